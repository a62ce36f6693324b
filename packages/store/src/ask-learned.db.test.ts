import type { Receipt } from '@rowcall/protocol';
import { makeReceipt, type TestStore, testStore } from '@rowcall/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertAsks, type NewAsk } from './ask.js';
import { listLearnedPairs } from './ask-learned.js';
import { insertReceipts } from './receipt.js';
import { makeAsk, toIdAt } from './testing/asks.js';

const NOON = Date.parse('2026-05-01T12:00:00Z');

describe('what calls teach', () => {
  let database: TestStore;

  beforeAll(async () => {
    database = await testStore();
    const ask = (question: string, more: Partial<NewAsk> = {}, ms = NOON) => makeAsk(ms, { question, ...more });
    const call = ({ id, actor }: NewAsk, key: string, more: Partial<Receipt> = {}) =>
      makeReceipt({ id: toIdAt('inv', NOON), ask_id: id, actor: actor === 'anyone' ? 'owner' : actor, key, ...more });
    const often = [ask('often'), ask('often', { actor: 'cap:a' })] as const;
    const [once, anonymous, old] = [ask('once'), ask('anonymous', { actor: 'anyone' }), ask('old', {}, NOON - 1)];
    const [secret, unnamed, failed] = [ask('is [redacted] valid'), ask('unnamed'), ask('failed')];
    await insertAsks(database.store.pool, [...often, once, anonymous, old, secret, unnamed, failed]);
    await insertReceipts(database.store.ledgerPool, [
      call(often[0], 'FIRST'),
      call(often[0], 'FIRST'),
      call(often[1], 'FIRST'),
      call(once, 'SECOND'),
      call(once, 'THIRD', { parent: 'inv_0' }),
      call(once, 'THIRD', { actor: 'cap:b' }),
      call(once, 'UNHEARD'),
      call(anonymous, 'FIRST'),
      call(old, 'FIRST'),
      call(secret, 'FIRST'),
      call(unnamed, 'FIRST', { ask_id: null }),
      call(failed, 'FIRST', { outcome: 'failed', status: 'PROVEN_ATTEMPT_NO_MATERIAL_RESULT', material: false }),
    ]);
  });
  afterAll(() => database.drop());

  const OFTEN = { question: 'often', key: 'FIRST', count: 2 };

  test('is what callers with a credential asked and then called with success, by name, and how often', async () => {
    const pairs = await listLearnedPairs(database.store.db, { sinceMs: NOON, limit: 10 });
    expect(pairs).toEqual([OFTEN, { question: 'once', key: 'SECOND', count: 1 }]);
  });

  test('is no more than is asked for, the most frequent first', async () => {
    expect(await listLearnedPairs(database.store.db, { sinceMs: NOON, limit: 1 })).toEqual([OFTEN]);
  });
});
