import { AppError } from '@rowcall/errors';
import { describe, expect, it } from 'vitest';
import { JSON_FUNCTIONS } from './json.js';
import { FUNCTION_NAME_PATTERN, type FunctionContext } from './registry.js';
import { TEXT_FUNCTIONS } from './text.js';

const ALL = [...TEXT_FUNCTIONS, ...JSON_FUNCTIONS];
const CONTEXT = { actor: 'owner', reason: null, limits: null } as FunctionContext;

/** Runs a function as the engine does. @throws Error with the first problem of its arguments. */
function run(name: string, ...args: unknown[]): unknown {
  const definition = ALL.find((each) => each.name === name);
  const parsed = definition?.input.safeParse(args);
  if (definition === undefined || !parsed?.success) throw new Error(parsed?.error?.issues[0]?.message ?? name);
  return definition.run(parsed.data, CONTEXT);
}

describe('the functions of text and JSON', () => {
  it('have names that rows can give, each once, and only read', () => {
    const names = ALL.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { name, effect } of ALL) {
      expect(name).toMatch(FUNCTION_NAME_PATTERN);
      expect(effect).toBe('read');
    }
  });

  it.each<[string, unknown[], unknown]>([
    ['ECHO', [{ a: 1 }], { a: 1 }],
    ['UPPER', ['straße'], 'STRASSE'],
    ['LOWER', ['ÅR'], 'år'],
    ['TRIM', [' \n a b\t'], 'a b'],
    ['LENGTH', ['a🙂b'], 3],
    ['SPLIT', ['a,b,,c', ','], ['a', 'b', '', 'c']],
    ['SPLIT', ['abc', '|'], ['abc']],
    ['REPLACE', ['a.b.c', '.', '$&'], 'a$&b$&c'],
    ['REPLACE', ['(a+)+ (a+)+', '(a+)+'], ' '],
    ['SLICE', ['hello', 1, 3], 'el'],
    ['SLICE', ['hello', '-3', ''], 'llo'],
    ['SLICE', ['a🙂b', 1, 2], '🙂'],
    ['BASE64_ENCODE', ['héllo'], 'aMOpbGxv'],
    ['BASE64_DECODE', ['aMOp\nbGxv'], 'héllo'],
    ['BASE64_DECODE', ['-_-_'.replaceAll('-_-_', 'Pz8_')], '???'],
    ['URL_ENCODE', ['a b&ü/'], 'a%20b%26%C3%BC%2F'],
    ['URL_DECODE', ['a%20b+%C3%BC'], 'a b+ü'],
    ['HASH', ['abc'], 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    ['JOIN', [['a', 1, true], ', '], 'a, 1, true'],
    ['JOIN', ['["a","b"]'], 'ab'],
    ['JSON_GET', [{ a: [{ b: 1 }] }, 'a[0].b'], 1],
    ['JSON_GET', ['{"a":[{"b":1}]}', '/a/0/b'], 1],
    ['JSON_GET', [{ 'x/y': { '~': 2 } }, '/x~1y/~0'], 2],
    ['JSON_GET', [{ 'a b': 3 }, '["a b"]'], 3],
    ['JSON_GET', [[1, [2]], '[1][0]'], 2],
    ['JSON_GET', [{ '': 4 }, '/'], 4],
    ['JSON_GET', ['[1]', ''], [1]],
    ['JSON_GET', [{ a: 1 }, 'b.c'], null],
    ['JSON_GET', [{}, 'constructor.name'], null],
    ['JSON_GET', [[1], '/01'], null],
    ['JSON_SET', [{ a: { b: 1 } }, '/a/c', 2], { a: { b: 1, c: 2 } }],
    ['JSON_SET', [{ a: [1, 2] }, 'a[0]', '{"x":1}'], { a: [{ x: 1 }, 2] }],
    ['JSON_SET', [[1], '/-', 2], [1, 2]],
    ['JSON_SET', [{ a: 1 }, '', null], null],
    ['JSON_KEYS', ['{"b":1,"a":2}'], ['b', 'a']],
    ['JSON_LENGTH', [[1, 2]], 2],
    ['JSON_FORMAT', ['{"a":1}'], '{\n  "a": 1\n}'],
    ['JSON_FORMAT', [{ a: 1 }, '0'], '{"a":1}'],
    ['JSON_VALID', ['{"a":1}'], true],
    ['JSON_VALID', ['{a:1}'], false],
  ])('%s %j gives %j', (name, args, expected) => {
    expect(run(name, ...args)).toEqual(expected);
  });

  // The examples of RFC 7396, appendix A.
  it.each<[unknown, unknown, unknown]>([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'b' }, ['c'], ['c']],
    [{ a: 'foo' }, null, null],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ])('JSON_MERGE of %j and %j is %j', (target, patch, expected) => {
    expect(run('JSON_MERGE', target, patch)).toEqual(expected);
  });

  it('JSON_MERGE and JSON_SET take __proto__ for a name like any other', () => {
    const merged = run('JSON_MERGE', '{}', '{"__proto__":{"x":1}}') as object;
    expect(Object.keys(merged)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(merged)).toBe(Object.prototype);
    expect(Object.keys(run('JSON_SET', '{}', '/__proto__', '1') as object)).toEqual(['__proto__']);
  });

  it('UUID is a new one each time', () => {
    expect(run('UUID')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(run('UUID', '')).not.toBe(run('UUID', ''));
  });

  const LONG = 'a'.repeat(1_048_576);
  it.each<[string, unknown[], string]>([
    ['SPLIT', ['a', ''], 'the separator is empty'],
    ['SPLIT', ['a'.repeat(10_001), 'a'], 'more than 10000 parts'],
    ['REPLACE', ['a', ''], 'the text to look for is empty'],
    ['REPLACE', [LONG, 'a', 'bb'], 'the result would have 2097152 characters; 1048576 is the most'],
    ['UPPER', [`${LONG}a`], 'has more than 1048576 characters'],
    ['JOIN', [[LONG, 'a']], 'the result would have'],
    ['JOIN', [[{}]], 'must be a list of texts'],
    ['SLICE', ['a', '1.5'], 'must be a whole number'],
    ['BASE64_DECODE', ['a*b'], 'is not base64'],
    ['BASE64_DECODE', ['/w=='], 'not UTF-8'],
    ['URL_DECODE', ['%zz'], 'argument 1 has a %'],
    ['JSON_GET', ['{', 'a'], 'is not JSON'],
    ['JSON_GET', [{}, 'a..b'], 'cannot be read at character 2'],
    ['JSON_GET', [{}, '.a'], 'cannot be read at character 1'],
    ['JSON_GET', [{}, '/~2'], '~ that is neither'],
    ['JSON_GET', [{}, '/a'.repeat(101)], 'more than 100 steps'],
    ['JSON_GET', [`${'['.repeat(201)}${']'.repeat(201)}`, ''], 'nests deeper than 200'],
    ['JSON_SET', [{ a: 1 }, 'b.c', 1], 'no place "b"'],
    ['JSON_SET', [{ a: 1 }, 'a.b', 1], 'no place "b"'],
    ['JSON_SET', [[1], '[3]', 1], 'no place "3"'],
    ['JSON_KEYS', ['1'], 'neither a JSON object nor an array'],
    ['JSON_FORMAT', [{}, 9], 'Too big'],
  ])('%s refuses what it cannot do', (name, args, message) => {
    expect(() => run(name, ...args)).toThrow(message);
  });

  it('refuse as invalid_args', () => {
    const thrown = (() => {
      try {
        return run('URL_DECODE', '%');
      } catch (error) {
        return error;
      }
    })();
    expect(thrown).toBeInstanceOf(AppError);
    expect((thrown as AppError).code).toBe('invalid_args');
  });
});
