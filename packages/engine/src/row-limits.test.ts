import type { Entry } from '@rowcall/catalogue';
import { AppError } from '@rowcall/errors';
import { describe, expect, it } from 'vitest';
import { RowLimits } from './row-limits.js';

const entryOf = (limits: object | null) => ({ row: { key: 'K', limits } }) as unknown as Entry;

const refusalOf = (work: () => void): AppError => {
  try {
    work();
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('was not refused');
};

describe('RowLimits', () => {
  it('refuses the third call of a minute when two are allowed, and says when to come back', () => {
    let now = 1_000_000;
    const limits = new RowLimits(() => now);
    const entry = entryOf({ rate_per_minute: 2 });
    limits.admit(entry, { body: '' });
    limits.admit(entry, { body: '' });
    now += 20_000;
    const refusal = refusalOf(() => limits.admit(entry, { body: '' }));
    expect([refusal.reason, refusal.details.retry_after]).toEqual(['rate_limited', 40]);
    now += 40_000;
    limits.admit(entry, { body: '' });
  });

  it('counts bytes, not characters, of the arguments in both forms', () => {
    const limits = new RowLimits(() => 0);
    const entry = entryOf({ max_body_bytes: 9 });
    limits.admit(entry, { body: 'éééé1' });
    expect(refusalOf(() => limits.admit(entry, { body: 'ééééé' })).reason).toBe('payload_too_large');
    limits.admit(entry, { args: { a: 'b' } });
    expect(refusalOf(() => limits.admit(entry, { args: { a: 'bc' } })).reason).toBe('payload_too_large');
  });

  it('leaves rows without limits alone', () => {
    new RowLimits(() => 0).admit(entryOf(null), { body: 'x'.repeat(1_000_000) });
  });
});
