import { describe, expect, it } from 'vitest';
import { toReceiptVerbs, type VerbFacts } from './receipt-verbs.js';

const READ = { enabled: true, effect: 'read' } as const;
const verbs = (facts: Partial<VerbFacts>) =>
  toReceiptVerbs({
    receipt: { id: 'inv_1', key: 'K', material: false },
    request: { body: 'b' },
    redacted: false,
    row: READ,
    ...facts,
  });

describe('what can be done with a receipt', () => {
  it('is a replay of the recorded input, and a repair that begins with it', () => {
    expect(verbs({})).toEqual({
      replay: { send: { replay: 'inv_1' } },
      repair: { send: { key: 'K', body: 'b', repairs: 'inv_1' } },
    });
  });

  it.each(['write', 'destructive'] as const)('has to be confirmed where the row is now a %s row', (effect) => {
    expect(verbs({ row: { enabled: true, effect } })).toEqual({
      replay: { send: { replay: 'inv_1', confirm: true } },
      repair: { send: { key: 'K', body: 'b', repairs: 'inv_1', confirm: true } },
    });
  });

  it('never sends an input that a secret was cut from', () => {
    expect(verbs({ redacted: true })).toEqual({
      replay: { unavailable: 'replay_redacted' },
      repair: { send: { key: 'K', repairs: 'inv_1' } },
    });
  });

  it.each([
    ['unknown_key', { row: undefined }],
    ['capability_disabled', { row: { ...READ, enabled: false } }],
    ['payload_expired', { request: undefined }],
  ])('is no replay: %s', (unavailable, facts) => {
    expect(verbs(facts).replay).toEqual({ unavailable });
  });

  it('is no repair of what went well', () => {
    expect(verbs({ receipt: { id: 'inv_1', key: 'K', material: true } }).repair).toEqual({ unavailable: 'not_failed' });
  });
});
