import type { JsonObject } from '@rowcall/protocol';
import { expect, test } from 'vitest';
import { compileInputSchema } from './input-schema.js';

function compile(schema: JsonObject) {
  const compiled = compileInputSchema(schema);
  if (!compiled.ok) throw new Error(compiled.message);
  return compiled;
}
const rules = (schema: JsonObject, args: JsonObject) =>
  compile(schema)
    .validate(args)
    .map(({ pointer, rule }) => `${pointer} ${rule}`);
const refusal = (schema: JsonObject) => {
  const compiled = compileInputSchema(schema);
  return compiled.ok ? undefined : compiled.message;
};

test.each<[string, JsonObject, string[]]>([
  ['x-arg-order first', { 'x-arg-order': ['b', 'a'], required: ['a'], properties: { a: {}, b: {} } }, ['b', 'a']],
  ['else required', { required: ['b'], properties: { a: {}, b: {} } }, ['b']],
  ['else the order of properties', { properties: { b: {}, a: {} } }, ['b', 'a']],
  ['else none', {}, []],
])('orders arguments by %s', (_name, schema, order) => {
  expect(compile(schema).order).toEqual(order);
});

test.each<[string, JsonObject, JsonObject, string[]]>([
  ['required, with the name in the pointer', { required: ['a/b'] }, {}, ['/a~1b required']],
  ['inherited names are not there', { required: ['toString'] }, {}, ['/toString required']],
  [
    'all errors at once',
    { properties: { a: { type: 'integer' }, b: { type: 'string' } } },
    { a: 'x', b: 1 },
    ['/a type', '/b type'],
  ],
  ['additionalProperties', { additionalProperties: false }, { z: 1 }, ['/z additionalProperties']],
  ['format', { properties: { a: { format: 'date' } } }, { a: '2026-02-30' }, ['/a format']],
  ['unknown formats are annotations', { properties: { a: { format: 'colour' } } }, { a: 'x' }, []],
  ['decimal steps', { properties: { a: { multipleOf: 0.01 } } }, { a: 19.99 }, []],
  [
    'equal elements',
    { properties: { a: { uniqueItems: true } } },
    {
      a: [
        { x: 1, y: 2 },
        { y: 2, x: 1 },
      ],
    },
    ['/a uniqueItems'],
  ],
  ['each pattern is its own', { properties: { a: { pattern: '^a$' }, b: { pattern: '^b$' } } }, { a: 'a', b: 'b' }, []],
  [
    'references within',
    { properties: { a: { $ref: '#/$defs/n' } }, $defs: { n: { type: 'null' } } },
    { a: 1 },
    ['/a type'],
  ],
  ['prefixItems in 2020-12', { properties: { a: { prefixItems: [{ type: 'null' }] } } }, { a: [1] }, ['/a/0 type']],
  [
    'items as a list in draft-07',
    { $schema: 'http://json-schema.org/draft-07/schema#', properties: { a: { items: [{ type: 'null' }] } } },
    { a: [1] },
    ['/a/0 type'],
  ],
])('checks %s', (_name, schema, args, expected) => {
  expect(rules(schema, args)).toEqual(expected);
});

test.each<[JsonObject, RegExp]>([
  [{ properties: { a: { type: 'strin' } } }, /not valid: \/properties\/a\/type must be/],
  [{ type: 'array' }, /must have type object/],
  [{ properties: { a: { minimum: 'x' } } }, /\/properties\/a\/minimum must be number/],
  [{ properties: { a: { items: [{}] } } }, /not valid/],
  [{ $schema: 'http://json-schema.org/draft-04/schema#' }, /neither JSON Schema 2020-12 nor draft-07/],
  [{ $ref: 'https://example.com/other.json' }, /can't resolve reference/],
  [{ properties: { a: { $ref: '#/$defs/none' } } }, /can't resolve reference/],
  [{ $async: true }, /\$async/],
  [{ properties: { a: { pattern: '(' } } }, /pattern|regular expression/i],
  [{ properties: { a: { pattern: '^(?!x)(a+)+$' } } }, /could take unbounded time/],
  [{ 'x-arg-order': 'a' }, /not a list of names/],
  [{ 'x-arg-order': ['a', 'a'] }, /names an argument twice/],
  [
    { 'x-arg-order': ['a'], properties: { b: {} }, additionalProperties: false },
    /"a" in x-arg-order but not in properties/,
  ],
  [{ description: 'x'.repeat(524_288) }, /longer than 524288/],
  [{ examples: Array.from({ length: 100_001 }, () => 0) }, /more than 100000 members/],
  [nest(200), /more than 128 deep/],
])('refuses schema %#, saying why', (schema, message) => {
  expect(refusal(schema)).toMatch(message);
});

function nest(depth: number): JsonObject {
  let schema: JsonObject = {};
  for (let level = 0; level < depth; level += 1) schema = { not: schema };
  return schema;
}

test('keeps the schemas of two rows apart, even when they claim the same $id', () => {
  const first = compile({ $id: 'https://example.com/row', properties: { a: { type: 'null' } } });
  const second = compile({ $id: 'https://example.com/row', properties: { a: { type: 'string' } } });
  expect(first.validate({ a: null })).toEqual([]);
  expect(second.validate({ a: 'x' })).toEqual([]);
  expect(refusal({ $ref: 'https://example.com/row' })).toMatch(/can't resolve/);
});

test('runs no code that a schema carries', () => {
  const hostile = '*/ globalThis.pwned = 1; /*';
  compile({ $id: hostile, title: hostile, properties: { [hostile]: { $id: `x${hostile}`, const: hostile } } });
  expect('pwned' in globalThis).toBe(false);
});

test.each<[string, JsonObject, JsonObject, string]>([
  ['a reference to itself at the same place', { allOf: [{ $ref: '#' }] }, {}, '$ref'],
  ['references that double at each level', doubling(40), {}, 'size'],
  [
    'recursion that doubles with the depth of the arguments',
    { properties: { a: { allOf: [{ $ref: '#' }, { $ref: '#' }] } } },
    nestArgs(60),
    'size',
  ],
  ['arguments nested deeper than 128', {}, nestArgs(200), 'size'],
  [
    'a text too long for a look-around pattern',
    { properties: { a: { pattern: '^(?=.*a).*b$' } } },
    { a: 'a'.repeat(20_000) },
    'size',
  ],
])('answers in bounded time: %s', (_name, schema, args, rule) => {
  const start = performance.now();
  expect(compile(schema).validate(args)).toEqual([{ pointer: '', rule, message: expect.any(String) as string }]);
  expect(performance.now() - start).toBeLessThan(3_000);
});

function doubling(levels: number): JsonObject {
  const defs = Array.from({ length: levels }, (_, level) => {
    const next = { $ref: `#/$defs/d${level + 1}` };
    return [`d${level}`, { allOf: [next, next] }] as const;
  });
  return { $ref: '#/$defs/d0', $defs: { ...Object.fromEntries(defs), [`d${levels}`]: {} } };
}

function nestArgs(depth: number): JsonObject {
  let args: JsonObject = {};
  for (let level = 0; level < depth; level += 1) args = { a: args };
  return args;
}

test.each([
  'uri',
  'uri-reference',
  'url',
  'email',
  'hostname',
  'date-time',
  'duration',
  'regex',
  'byte',
  'uri-template',
  'ipv6',
])('checks a megabyte of text against format %s in bounded time', (format) => {
  const { validate } = compile({ properties: { a: { format } } });
  const start = performance.now();
  for (const seed of ['a', ':', '@', 'http://a:', '{a}', '-'])
    validate({ a: `${seed.repeat(1_000_000 / seed.length)}\n!` });
  expect(performance.now() - start).toBeLessThan(2_000);
});

test('finds equal elements among 50,000 in linear time', () => {
  const { validate } = compile({ properties: { a: { type: 'array', uniqueItems: true } } });
  const start = performance.now();
  expect(validate({ a: Array.from({ length: 49_000 }, (_, n) => ({ n })) })).toEqual([]);
  expect(performance.now() - start).toBeLessThan(2_000);
});
