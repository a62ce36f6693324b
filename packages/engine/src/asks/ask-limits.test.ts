import { describe, expect, it } from 'vitest';
import { AskLimits } from './ask-limits.js';

const MINUTE_MS = 60_000;

describe('the limits of asks', () => {
  const countAdmitted = (limits: AskLimits, by: Parameters<AskLimits['admit']>[0], times: number): number =>
    Array.from({ length: times }, () => limits.admit(by)).filter(Boolean).length;

  it('are 600 a minute for each caller', () => {
    let now = 5 * MINUTE_MS;
    const limits = new AskLimits(() => now);
    expect(countAdmitted(limits, { actor: 'owner' }, 700)).toBe(600);
    expect(countAdmitted(limits, { actor: 'cap:a' }, 700)).toBe(600);
    now += MINUTE_MS - 1;
    expect(countAdmitted(limits, { actor: 'owner' }, 1)).toBe(0);
    now += 1;
    expect(countAdmitted(limits, { actor: 'owner' }, 700)).toBe(600);
  });

  it('are 60 for an address without a credential, and 120 for all of them', () => {
    let now = 0;
    const limits = new AskLimits(() => now);
    const ask = (address: string) => countAdmitted(limits, { actor: 'anyone', address }, 100);
    expect([ask('a'), ask('b'), ask('c')]).toEqual([60, 60, 0]);
    expect(countAdmitted(limits, { actor: 'owner' }, 1)).toBe(1);
    now += MINUTE_MS;
    expect(ask('c')).toBe(60);
  });

  it('hold for all together of those that are too many to be told apart', () => {
    const limits = new AskLimits(() => 0);
    for (let n = 0; n < 10_000; n += 1) limits.admit({ actor: `cap:${n}` });
    const admitted = Array.from({ length: 700 }, (_, n) => limits.admit({ actor: `cap:late-${n}` })).filter(Boolean);
    expect(admitted).toHaveLength(600);
    expect(limits.admit({ actor: 'cap:0' })).toBe(true);
  });
});
