import { describe, expect, it } from 'vitest';
import { checkWritten } from './verify.js';

const before = { receipts: 5, payloads: 6, inserts: 1 };

describe('the count at the end', () => {
  it('passes when every answer has its rows', () => {
    expect(() =>
      checkWritten(before, { receipts: 15, payloads: 16, inserts: 4 }, { dispatches: 10, inserts: 3 }),
    ).not.toThrow();
  });

  it.each([
    ['a receipt is missing', { receipts: 14, payloads: 16, inserts: 4 }],
    ['a receipt is too many', { receipts: 16, payloads: 16, inserts: 4 }],
    ['a payload is missing', { receipts: 15, payloads: 15, inserts: 4 }],
    ['an insert is missing', { receipts: 15, payloads: 16, inserts: 3 }],
  ])('fails when %s', (_, after) => {
    expect(() => checkWritten(before, after, { dispatches: 10, inserts: 3 })).toThrow(/worth nothing/);
  });
});
