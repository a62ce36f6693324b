// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax under test
import { describe, expect, test } from 'vitest';
import { getDiagnostics, getTemplate, makeArguments } from './testing/compile.js';
import { parseTextTemplate, renderTextTemplate } from './text-template.js';
import { usedArguments } from './used-arguments.js';

const ARGS = makeArguments({
  positional: ['one', 'two', '$1', '', 'five'],
  named: {
    name: 'Ada',
    n: 5,
    yes: false,
    nothing: null,
    list: [1, 'a'],
    object: { a: '"' },
    both: 'named',
    'a-b': 'dash',
  },
  bindings: { bound: 'B', both: 'binding' },
  previous: { a: { b: ['x', { c: 'deep' }] }, 'x-y': 'dashed', 'two words': 'spaced', text: 'T' },
});

function render(text: string, args = ARGS): string {
  return renderTextTemplate(getTemplate(parseTextTemplate(text)), args);
}

describe('the forms of a hole', () => {
  test.each([
    ['$1', 'one'],
    ['$1$2', 'onetwo'],
    ['$12', ''],
    ['${1}2', 'one2'],
    ['$9|', '|'],
    ['$2+', 'two|$1||five'],
    ['${2+}+', 'two|$1||five+'],
    ['${1}+', 'one+'],
    ['$6+', ''],
    ['$name', 'Ada'],
    ['$name.', 'Ada.'],
    ['${name}s', 'Adas'],
    ['$names', '$names'],
    ['${a-b}', 'dash'],
    ['$n $yes $nothing $list $object', '5 false null [1,"a"] {"a":"\\""}'],
    ['$bound', 'B'],
    ['$both', 'named'],
    ['$unknown ${unknown} $$unknown', '$unknown ${unknown} $$unknown'],
    ['$toString $__proto__ $constructor', '$toString $__proto__ $constructor'],
    ['$PREV.a.b[0]', 'x'],
    ['$PREV.a.b[1].c!', 'deep!'],
    ['${PREV.text}x', 'Tx'],
    ['$PREV.text.', 'T.'],
    ['$PREV["x-y"] $PREV[\'two words\']', 'dashed spaced'],
    ['$PREV.a.b', '["x",{"c":"deep"}]'],
    ['<$PREV.missing.deep><$PREV.a[0]><$PREV.a.b.length><$PREV.a.b[9]><$PREV.__proto__>', '<><><><><>'],
    ['$PREVIOUS', '$PREVIOUS'],
    ['$$1 $$name', 'one Ada'],
    ['$$$1', '$one'],
    ['\\$1', '$1'],
    ['\\$5.00', '$5.00'],
    ['\\\\$1', '\\one'],
    ['\\\\\\$1', '\\$1'],
    ['C:\\dir\\ $1', 'C:\\dir\\ one'],
    ['$ $$ $0 $01 $- ${ ${} ${1 $', '$ $$ $0 $01 $- ${ ${} ${1 $'],
    ['# a {b} [KEY]x[/KEY] | > "$1"\n', '# a {b} [KEY]x[/KEY] | > "one"\n'],
    ['', ''],
  ])('%j renders to %j', (template, expected) => {
    expect(render(template)).toBe(expected);
  });

  test('never scans what an argument brought', () => {
    expect(
      render('$3 $name', makeArguments({ positional: ['x', '', '$1 $name ${1} \\$'], named: { name: '$3' } })),
    ).toBe('$1 $name ${1} \\$ $3');
  });

  test('takes $PREV of any kind, and nothing for none', () => {
    expect(render('<$PREV>', makeArguments({ previous: 'text' }))).toBe('<text>');
    expect(render('<$PREV>', makeArguments({ previous: 0 }))).toBe('<0>');
    expect(render('<$PREV[1]>', makeArguments({ previous: ['a', 'b'] }))).toBe('<b>');
    expect(render('<$PREV><$PREV.a>')).toContain('<{"a":');
    expect(render('<$PREV><$PREV.a>', makeArguments())).toBe('<><>');
  });
});

describe('limits', () => {
  test('refuses $ARGS outside JSON, and says where', () => {
    expect(getDiagnostics(parseTextTemplate('first\nsecond $ARGS'))).toEqual([
      {
        place: 'payload',
        message: '$ARGS stands only in a JSON body, unquoted, as a member or a value; write \\$ for a literal dollar',
        offset: 13,
        line: 2,
        column: 8,
        excerpt: 'second $ARGS\n       ^',
      },
    ]);
  });

  test('takes a template of 1 MiB and refuses one byte more, counted in UTF-8', () => {
    expect(parseTextTemplate('ä'.repeat(524_288)).ok).toBe(true);
    expect(getDiagnostics(parseTextTemplate(`${'ä'.repeat(524_288)}x`))[0]?.message).toBe(
      'is over 1048576 bytes; shorten it',
    );
  });

  test('takes 10,000 holes and refuses one more', () => {
    expect(parseTextTemplate('$1'.repeat(10_000)).ok).toBe(true);
    expect(getDiagnostics(parseTextTemplate('$1'.repeat(10_001)))[0]?.message).toBe(
      'a template has at most 10000 holes; split the row',
    );
  });

  test('refuses argument numbers over 9999 and paths over 32 steps', () => {
    expect(parseTextTemplate(`$9999 $PREV${'.a'.repeat(32)}`).ok).toBe(true);
    expect(getDiagnostics(parseTextTemplate('$20000'))[0]?.message).toMatch(/at most 9999/);
    expect(getDiagnostics(parseTextTemplate(`$PREV${'.a'.repeat(33)}`))[0]?.message).toMatch(/more than 32 steps/);
  });

  test('refuses an output over 16 MiB, before it is built', () => {
    const args = makeArguments({ positional: ['x'.repeat(1_048_576)] });
    expect(render('$1'.repeat(16), args)).toHaveLength(16_777_216);
    expect(() => render('$1'.repeat(10_000), args)).toThrow(expect.objectContaining({ code: 'payload_too_large' }));
    const wide = makeArguments({ positional: ['ä'.repeat(8_388_609)] });
    expect(() => render('$1', wide)).toThrow(expect.objectContaining({ code: 'payload_too_large' }));
  });

  test('refuses a value that is nested too deeply to write', () => {
    const deep = JSON.parse(`${'['.repeat(200_000)}${']'.repeat(200_000)}`);
    expect(() => render('$name', makeArguments({ named: { name: deep } }))).toThrow(
      expect.objectContaining({
        code: 'bad_template_value',
        message: '$name is nested too deeply or too long to write as JSON',
      }),
    );
  });

  test.each(['$', '\\', '\\$', '$PREV["', '$PREV[', '${', '$$', '${PREV.a', '$PREV.a', '$a', '$1+', '$ARGS '])(
    'reads 128 KiB of %j in linear time',
    (unit) => {
      const started = performance.now();
      parseTextTemplate(unit.repeat(Math.floor(131_072 / unit.length)));
      expect(performance.now() - started).toBeLessThan(2_500);
    },
  );
});

test('lists what a template uses', () => {
  expect(usedArguments(getTemplate(parseTextTemplate('$2 $1 $2 $5+ ${3+} $$name $PREV.a \\$no ${b}')))).toEqual({
    positional: [1, 2],
    rest: 3,
    names: ['b', 'name'],
    previous: true,
    all: false,
  });
});
