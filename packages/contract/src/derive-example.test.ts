import type { JsonObject } from '@rowcall/protocol';
import { expect, test } from 'vitest';
import { deriveExample } from './derive-example.js';
import { compileInputSchema } from './input-schema.js';

function derive(schema: JsonObject) {
  const compiled = compileInputSchema(schema);
  if (!compiled.ok) throw new Error(compiled.message);
  return deriveExample(compiled);
}
const one = (property: JsonObject) => derive({ required: ['a'], properties: { a: property } })?.a;

test.each<[JsonObject, unknown]>([
  [{ const: 0 }, 0],
  [{ default: 'd', enum: ['e', 'd'] }, 'd'],
  [{ examples: ['x'], default: 'd' }, 'x'],
  [{ enum: ['e', 'f'] }, 'e'],
  [{ type: 'string' }, 'example'],
  [{ type: 'string', maxLength: 3 }, 'exa'],
  [{ type: 'string', minLength: 10 }, 'exampleexa'],
  [{ type: 'string', format: 'date-time' }, '2026-01-31T09:30:00Z'],
  [{ type: 'string', format: 'uuid' }, '123e4567-e89b-42d3-a456-426614174000'],
  [{ type: 'string', format: 'email' }, 'user@example.com'],
  [{ type: 'string', pattern: '^[A-Z]{3}$' }, 'USD'],
  [{ type: 'integer' }, 1],
  [{ type: 'integer', minimum: 2.5 }, 3],
  [{ type: 'integer', exclusiveMinimum: 10, multipleOf: 4 }, 12],
  [{ type: 'integer', maximum: -5 }, -5],
  [{ type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 }, 0.5],
  [{ type: 'number', exclusiveMaximum: 0 }, -1],
  [{ type: 'boolean' }, true],
  [{ type: ['null', 'integer'] }, 1],
  [{ type: 'null' }, null],
  [{ type: 'array', items: { type: 'integer' }, minItems: 2 }, [1, 1]],
  [{ type: 'array', prefixItems: [{ type: 'string' }, { type: 'null' }], minItems: 2 }, ['example', null]],
  [{ type: 'object', required: ['b'], properties: { b: { type: 'null' }, c: {} } }, { b: null }],
  [{ allOf: [{ type: 'integer' }, { minimum: 7 }] }, 7],
  [{ oneOf: [{ type: 'null' }, { type: 'boolean' }] }, true],
])('makes a value for %j', (property, value) => {
  expect(one(property)).toEqual(value);
});

test('shows optional arguments only where they bring an example, and only while the whole stays valid', () => {
  const properties = { a: { type: 'string' }, b: { type: 'string', examples: ['x'] }, c: { type: 'string' } };
  expect(derive({ required: ['a'], properties })).toEqual({ a: 'example', b: 'x' });
  expect(derive({ required: ['a'], properties, maxProperties: 1 })).toEqual({ a: 'example' });
});

test('prefers an example that the schema states whole', () => {
  expect(derive({ examples: [{ a: 'bad' }, { a: 2 }], properties: { a: { type: 'integer' } } })).toEqual({ a: 2 });
});

test.each<JsonObject>([
  { required: ['a'], properties: { a: { type: 'string', pattern: '^zz-[0-9]{9}$' } } },
  { required: ['a'], properties: { a: { type: 'string', minLength: 1_000_000_000 } } },
  { required: ['a'], properties: { a: { type: 'array', minItems: 1_000_000_000 } } },
  { required: ['a'], properties: { a: { $ref: '#' } } },
  { required: ['a'], properties: { a: false } },
])('gives null rather than an example that does not fit: %j', (schema) => {
  expect(derive(schema)).toBeNull();
});
