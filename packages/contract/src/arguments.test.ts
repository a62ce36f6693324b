import { AppError } from '@rowcall/errors';
import type { JsonObject } from '@rowcall/protocol';
import { expect, test } from 'vitest';
import { toArguments } from './arguments.js';
import { parseDocstring } from './docstring.js';
import { compileInputSchema } from './input-schema.js';
import type { ArgumentInput } from './read-arguments.js';

function compile(schema: JsonObject) {
  const compiled = compileInputSchema(schema);
  if (!compiled.ok) throw new Error(compiled.message);
  return compiled;
}
const row = (examples: string[] = [], content = '') => ({
  row: { key: 'ROW', examples },
  doc: parseDocstring(content, 'fn').doc,
});

const SCHEMA = compile({
  type: 'object',
  'x-arg-order': ['name', 'count', 'ratio', 'on', 'tags', 'where', 'none', 'id'],
  required: ['name'],
  properties: {
    name: { type: 'string' },
    count: { $ref: '#/$defs/count' },
    ratio: { type: ['number', 'null'] },
    on: { type: 'boolean' },
    tags: { type: 'array' },
    where: { anyOf: [{ type: 'object' }, { type: 'null' }] },
    none: { type: ['string', 'null'] },
    id: { type: ['string', 'integer'] },
  },
  additionalProperties: false,
  $defs: { count: { type: 'integer', minimum: 0 } },
});

test.each<[string, JsonObject]>([
  ['Oslo', { name: 'Oslo' }],
  ['5', { name: '5' }],
  ['true|7', { name: 'true', count: 7 }],
  ['a| 7 |-1.5e2|false', { name: 'a', count: 7, ratio: -150, on: false }],
  ['a||null|true', { name: 'a', ratio: null, on: true }],
  ['|1', { name: '', count: 1 }],
  ['a||||["x",1]|{"k":[]}|null|12', { name: 'a', tags: ['x', 1], where: { k: [] }, none: 'null', id: 12 }],
  ['a|||||null||12a', { name: 'a', where: null, id: '12a' }],
  ['a|||||||12345678901234567890', { name: 'a', id: '12345678901234567890' }],
  ['{"name":"a","count":2}', { name: '{"name":"a","count":2}' }],
])('maps body %j to names by order and type', (body, named) => {
  expect(toArguments(SCHEMA, { body }, row()).named).toEqual(named);
});

test('keeps the pieces of a body as positions, and gives the names behind them', () => {
  const args = toArguments(SCHEMA, { body: 'a|7' }, row());
  expect(args.positional).toEqual(['a', '7']);
  expect(args.positionNames?.slice(0, 2)).toEqual(['name', 'count']);
});

test('gives named arguments positions by order, gaps empty, other values as JSON', () => {
  const args = toArguments(SCHEMA, { args: { name: 'a', ratio: 1.5, tags: ['x'] } }, row());
  expect(args.positional).toEqual(['a', '', '1.5', '', '["x"]']);
});

test('takes a body that is the whole object of arguments, when it fits no single one', () => {
  const schema = compile({ required: ['n'], properties: { n: { type: 'integer' } }, additionalProperties: false });
  expect(toArguments(schema, { body: '{"n":3}' }, row()).named).toEqual({ n: 3 });
});

function failure(schema: ReturnType<typeof compile> | undefined, input: ArgumentInput, of = row()): AppError {
  try {
    toArguments(schema, input, of);
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

test.each<[ArgumentInput, object]>([
  [{ body: '' }, { pointer: '/name', rule: 'required' }],
  [{ body: 'a|x' }, { pointer: '/count', rule: 'type' }],
  [{ body: 'a|007' }, { pointer: '/count', rule: 'type' }],
  [{ body: 'a|-1' }, { pointer: '/count', rule: 'minimum' }],
  [
    { body: 'a|9007199254740993' },
    { pointer: '/count', rule: 'type', message: expect.stringContaining('2^53') as string },
  ],
  [{ body: 'a|1|2|true|[]|{}|n|i|j' }, { pointer: '', rule: 'x-arg-order' }],
  [{ args: { name: 5 } }, { pointer: '/name', rule: 'type' }],
  [{ args: { name: 'a', 'x~/y': 1 } }, { pointer: '/x~0~1y', rule: 'additionalProperties' }],
])('refuses %j with pointer and rule', (input, error) => {
  const { code, details } = failure(SCHEMA, input);
  expect(code).toBe('invalid_args');
  expect(details.errors).toEqual([expect.objectContaining(error)]);
});

test('a refusal carries a call that works, in the form that was sent', () => {
  const of = row(['bad|x'], '# EX: [ROW]a|3[/ROW]');
  expect(failure(SCHEMA, { body: '' }, of).details.example).toEqual({ key: 'ROW', body: 'a|3' });
  expect(failure(SCHEMA, { args: {} }, of).details.example).toEqual({ key: 'ROW', args: { name: 'a', count: 3 } });
  expect(failure(SCHEMA, { args: {} }).details.example).toEqual({ key: 'ROW', args: { name: 'example' } });
});

test('the message names the argument and the rule', () => {
  expect(failure(SCHEMA, { body: 'a|x' }).message).toBe('the arguments do not fit ROW: /count must be integer');
});

const DOCUMENTED = row([], '# ARGS: $1=city | $2+=rest');

test('a row without a schema takes the pieces of the body, under their documented names', () => {
  const args = toArguments(undefined, { body: 'Oslo|a|b' }, DOCUMENTED);
  expect(args.positional).toEqual(['Oslo', 'a', 'b']);
  expect(args.named).toEqual({ city: 'Oslo', rest: 'a|b' });
});

test('a row without a schema takes strings by name, in their documented positions', () => {
  const args = toArguments(undefined, { args: { rest: 'a|b', other: 'x' } }, DOCUMENTED);
  expect(args.positional).toEqual(['', 'a|b']);
  expect(args.named).toEqual({ rest: 'a|b', other: 'x' });
});

test('a row without a schema refuses named values that are not strings', () => {
  const { details } = failure(undefined, { args: { city: 5 } }, row(['Oslo'], '# ARGS: $1=city'));
  expect(details).toEqual({
    errors: [{ pointer: '/city', rule: 'type', message: 'must be a string: a row without a schema takes strings' }],
    example: { key: 'ROW', args: { city: 'Oslo' } },
  });
});

test('a name of the language itself is an ordinary argument', () => {
  const args = JSON.parse('{"__proto__":"x"}') as JsonObject;
  expect(Object.keys(toArguments(undefined, { args }, row()).named)).toEqual(['__proto__']);
  const schema = compile(JSON.parse('{"properties":{"__proto__":{"type":"string"}}}') as JsonObject);
  expect(Object.entries(toArguments(schema, { body: 'x' }, row()).named)).toEqual([['__proto__', 'x']]);
});
