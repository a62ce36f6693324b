// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax under test
import { describe, expect, test } from 'vitest';
import { parseJsonTemplate, renderJsonTemplate } from './json-template.js';
import { getDiagnostics, getTemplate, makeArguments } from './testing/compile.js';

const ARGS = makeArguments({
  positional: ['one', '{"a":[1]}', 'say "hi"\\\n', ' 12 ', '2'],
  named: { name: 'Ada', n: 5, yes: true, nothing: null, list: [1, 'a'], q: '","x":"' },
  previous: { a: { b: [1.5, { c: '\ud83d\ude00' }] } },
});

function render(text: string, args = ARGS): unknown {
  return renderJsonTemplate(getTemplate(parseJsonTemplate(text)), args);
}

function fault(text: string): string {
  const [first] = getDiagnostics(parseJsonTemplate(text));
  return `${first?.line}:${first?.column} ${first?.message}`;
}

describe('holes', () => {
  test.each([
    ['', ['one']],
    [' \n', ['one']],
    ['[]', []],
    ['["$1"]', ['one']],
    ['["<$1> $name"]', ['<one> Ada']],
    ['["$3"]', ['say "hi"\\\n']],
    ['["$$3"]', ['say "hi"\\\n']],
    ['["$q"]', ['","x":"']],
    ['["$2"]', ['{"a":[1]}']],
    ['[$2]', [{ a: [1] }]],
    ['[$$2]', [{ a: [1] }]],
    ['[$4, ${5}]', [12, 2]],
    ['[$5+]', [2]],
    ['["$1+"]', ['one|{"a":[1]}|say "hi"\\\n| 12 |2']],
    ['[$name, $n, $yes, $nothing, $list]', ['Ada', 5, true, null, [1, 'a']]],
    ['["$name", "$n", "$yes", "$nothing", "$list"]', ['Ada', '5', 'true', 'null', '[1,"a"]']],
    ['[$PREV.a.b[1].c, "$PREV.a.b[0]", $PREV["a"]]', ['\u{1f600}', '1.5', { b: [1.5, { c: '\u{1f600}' }] }]],
    ['["$PREV[\\"a\\"].b[0]"]', ['1.5']],
    ['["$schema", "$9", "${unknown}"]', ['$schema', '', '${unknown}']],
    ['[{"$name":1,"x$n":2,"$schema":3}]', [{ Ada: 1, x5: 2, $schema: 3 }]],
    ['[{"$3":"$3"}]', [{ 'say "hi"\\\n': 'say "hi"\\\n' }]],
    ['["\\$1", "\\\\$1", "\\\\\\\\$1", "\\\\\\$1", "\\u0024{1}"]', ['$1', '$1', '\\one', '\\$1', 'one']],
    ['["\\u00e9\\n\\t\\/\\"\\\\"]', ['é\n\t/"\\']],
    ['[ 1 , -0.5e+3,true ,false,null , [ ] , { } , {"a" : [1] } ]', [1, -500, true, false, null, [], {}, { a: [1] }]],
  ])('%s', (template, expected) => {
    expect(render(template)).toEqual(expected);
  });

  test('keeps __proto__ an ordinary member, written, computed or brought', () => {
    const args = makeArguments({ positional: ['__proto__', '{"__proto__":{"polluted":1}}'] });
    for (const template of ['[{"__proto__":{"polluted":1}}]', '[{"$1":{"polluted":1}}]', '[$2]']) {
      const [object] = render(template, args) as [{ polluted?: unknown }];
      expect(Object.getPrototypeOf(object)).toBe(Object.prototype);
      expect(Object.keys(object)).toEqual(['__proto__']);
      expect(object.polluted).toBeUndefined();
    }
  });

  test('shares nothing with the arguments', () => {
    const list = [1];
    const [copy] = render('[$list]', makeArguments({ named: { list } })) as [number[]];
    copy.push(2);
    expect(list).toEqual([1]);
  });
});

describe('$ARGS', () => {
  const args = makeArguments({ positional: ['one', 'two'], named: { a: 1, b: { c: 2 }, d: null } });

  test.each([
    ['[$ARGS]', [{ a: 1, b: { c: 2 }, d: null }]],
    ['[${ARGS}, "$a"]', [{ b: { c: 2 }, d: null }, '1']],
    ['[{$ARGS}]', [{ a: 1, b: { c: 2 }, d: null }]],
    ['[{"x":1,$ARGS,"y":"$b"}]', [{ x: 1, a: 1, d: null, y: '{"c":2}' }]],
    ['[{"a":"fixed","d":0,$ARGS}]', [{ a: 'fixed', d: 0, b: { c: 2 } }]],
    ['[$a,$b,$d,{$ARGS}]', [1, { c: 2 }, null, {}]],
  ])('%s', (template, expected) => {
    expect(render(template, args)).toEqual(expected);
  });

  test('leaves out what the template uses by position, when the names of the positions are known', () => {
    const named = { ...args, positionNames: ['a', 'b'] };
    expect(render('["$1", $ARGS]', named)).toEqual(['one', { b: { c: 2 }, d: null }]);
    expect(render('["$2+", $ARGS]', named)).toEqual(['two', { a: 1, d: null }]);
  });

  test('does not hold flow bindings, and takes __proto__ as a name', () => {
    const named = JSON.parse('{"__proto__":1}');
    const [object] = render('[$ARGS]', makeArguments({ named, bindings: { b: 2 } })) as [object];
    expect(JSON.stringify(object)).toBe('{"__proto__":1}');
  });
});

describe('refuses an argument', () => {
  test.each([
    ['[$1]', '$1 is not JSON'],
    ['[$3]', '$3 is not JSON'],
    ['[$9]', '$9 has no value'],
    ['[$9+]', '$9+ has no value'],
    ['[$unknown]', '$unknown has no value'],
    ['[$PREV.x]', '$PREV.x has no value'],
  ])('that is no JSON value in %s', (template, message) => {
    expect(() => render(template)).toThrow(
      expect.objectContaining({ code: 'bad_json_value', message: expect.stringContaining(message) }),
    );
  });

  test.each(['', '1 2', '1,2', '1],[2', '{"a":1', 'NaN', "'x'", '01', '\u{a0}1', '//x\n1'])(
    '%j where a value stands',
    (text) => {
      expect(() => render('[$1]', makeArguments({ positional: [text] }))).toThrow(
        expect.objectContaining({ code: 'bad_json_value' }),
      );
    },
  );

  test.each([
    ['[{"a":1,"$1":2}]', '"$1"'],
    ['[{"$1":2,"a":1}]', '"$1"'],
    ['[{"$1":1,"$2":2}]', '"$2"'],
    ['[{"$1":1,$ARGS}]', '$ARGS'],
    ['[{$ARGS,"$1":1}]', '"$1"'],
  ])('that repeats a member of %s', (template, source) => {
    const args = makeArguments({ positional: ['a', 'a'], named: template.includes('$ARGS') ? { a: 3 } : {} });
    expect(() => render(template, args)).toThrow(
      expect.objectContaining({
        code: 'bad_template_value',
        message: `${source} would repeat the name of another member of the object; send another value`,
      }),
    );
  });

  test('without telling its value', () => {
    try {
      render('[$1]', makeArguments({ positional: ['s3cret'] }));
      expect.unreachable();
    } catch (error) {
      expect(JSON.stringify(error) + String(error)).not.toContain('s3cret');
    }
  });
});

describe('refuses the template', () => {
  test.each([
    ['{"a":1}', '1:1 the payload of a fn row is a JSON array, such as ["$1"]'],
    ['$1', '1:1 the payload of a fn row is a JSON array, such as ["$1"]'],
    ['[1', '1:3 expected , or ]'],
    ['[1,]', '1:4 expected a JSON value, or an unquoted $1, $name, $PREV or $ARGS; put text in double quotes'],
    ['[1 2]', '1:4 expected , or ]'],
    ['[01]', '1:3 expected , or ]'],
    ['[text]', '1:2 expected a JSON value, or an unquoted $1, $name, $PREV or $ARGS; put text in double quotes'],
    ["['x']", '1:2 expected a JSON value, or an unquoted $1, $name, $PREV or $ARGS; put text in double quotes'],
    ['[1] x', '1:5 text follows the end of the JSON value; remove it'],
    ['["x]', '1:2 the string is not closed; add a double quote'],
    ['["a\nb"]', '1:4 a string holds no line break or control character; write \\n or \\u00XX'],
    ['["\\x"]', '1:3 not an escape of JSON; write \\\\ for a backslash'],
    ['["\\u12g4"]', '1:3 not an escape of JSON; write \\\\ for a backslash'],
    ['[$1$2]', '1:4 expected , or ]'],
    ['[$1text]', '1:4 expected , or ]'],
    ['[$]', '1:2 a dollar outside a string begins $1, $name, $PREV or $ARGS'],
    ['[\n {"a" 1}]', '2:7 expected : after the member name'],
    ['[{a:1}]', '1:3 expected a member name in double quotes, or $ARGS'],
    ['[{$name}]', '1:3 only $ARGS stands as a member; write "name": $name'],
    ['[{$1:2}]', '1:3 only $ARGS stands as a member; write "name": $name'],
    ['[{"a":1,"a":2}]', '1:9 the object has this member twice; keep one'],
    ['[{"a":1,"\\u0061":2}]', '1:9 the object has this member twice; keep one'],
    ['[{"a":1,}]', '1:9 expected a member name in double quotes, or $ARGS'],
    [
      '["\\n\\t$ARGS"]',
      '1:7 $ARGS stands only in a JSON body, unquoted, as a member or a value; write \\$ for a literal dollar',
    ],
    [
      '[{"$ARGS":1}]',
      '1:4 $ARGS stands only in a JSON body, unquoted, as a member or a value; write \\$ for a literal dollar',
    ],
    [`${'['.repeat(65)}${']'.repeat(65)}`, '1:65 a JSON template nests at most 64 deep'],
  ])('%s', (template, expected) => {
    expect(fault(template)).toBe(expected);
  });

  test('takes 64 levels', () => {
    expect(parseJsonTemplate(`${'['.repeat(64)}${']'.repeat(64)}`).ok).toBe(true);
  });

  test.each(['[', '{"a":', '"', '\\$', '$1,', '1,', '"a",', '"\\\\",', '{"$1":'])(
    'reads 128 KiB of %j in linear time',
    (unit) => {
      const started = performance.now();
      parseJsonTemplate(`["${unit.repeat(Math.floor(131_072 / unit.length))}`);
      parseJsonTemplate(`[${unit.repeat(Math.floor(131_072 / unit.length))}`);
      expect(performance.now() - started).toBeLessThan(2_500);
    },
  );
});

test('refuses an output over 16 MiB', () => {
  const args = makeArguments({ positional: ['\u{1}'.repeat(3_000_000)] });
  expect(() => render('["$1"]', args)).toThrow(expect.objectContaining({ code: 'payload_too_large' }));
});
