import type { JsonValue } from '@rowcall/protocol';
import { describe, expect, it } from 'vitest';
import { isMaterial } from './material.js';

describe('isMaterial', () => {
  it.each<[JsonValue]>([
    ['noon'],
    [0],
    [false],
    [true],
    [[0]],
    [{ ok: true }],
    [{ error: null }],
    [{ error: '' }],
    [{ skipped: false }],
  ])('takes %j for a usable output', (result) => expect(isMaterial(result)).toBe(true));

  it.each<[JsonValue]>([[null], [''], [' \n'], [[]], [{}]])('takes %j for an empty output', (result) =>
    expect(isMaterial(result)).toBe(false),
  );

  it.each<[JsonValue]>([
    [{ ok: false, data: 1 }],
    [{ error: 'no such city' }],
    [{ error: { code: 7 } }],
    [{ skipped: true }],
  ])('takes %j for an output that says it failed', (result) => expect(isMaterial(result)).toBe(false));
});
