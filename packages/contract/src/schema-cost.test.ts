import type { JsonObject } from '@rowcall/protocol';
import { describe, expect, it } from 'vitest';
import { compileInputSchema } from './input-schema.js';

const check = (items: JsonObject, values: readonly unknown[]) => {
  const compiled = compileInputSchema({ type: 'object', properties: { a: { type: 'array', items } } });
  if (!compiled.ok) throw new Error(compiled.message);
  return compiled.validate({ a: values } as JsonObject);
};

const alternatives = (count: number): JsonObject => ({
  anyOf: Array.from({ length: count }, () => ({ type: 'string' })),
});

describe('a schema of many alternatives', () => {
  it('refuses arguments of so many members that the check would take seconds, without making it', () => {
    expect(check(alternatives(2_000), Array(20_000).fill(0))).toEqual([
      { pointer: '', rule: 'size', message: 'have too many members for a schema of so many alternatives' },
    ]);
  });

  it('ends at the first member that does not fit when looking at all would be dear', () => {
    const errors = check(alternatives(200), Array(1_000).fill(0));
    expect(new Set(errors.map(({ pointer }) => pointer))).toEqual(new Set(['/a/0']));
  });

  it('names every member that does not fit when there are few', () => {
    const errors = check({ type: 'string' }, [0, 'a', 1]);
    expect(errors.map(({ pointer }) => pointer)).toEqual(['/a/0', '/a/2']);
  });

  it('lets through what fits', () => {
    expect(check(alternatives(200), Array(1_000).fill('x'))).toEqual([]);
  });
});
