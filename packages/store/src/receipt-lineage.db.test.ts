import { makeReceipt, type TestStore, testStore } from '@rowcall/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertReceipts } from './receipt.js';
import { listLaterCalls } from './receipt-lineage.js';

let database: TestStore;
beforeAll(async () => {
  database = await testStore();
});
afterAll(() => database.drop());

test('finds the newest calls that name a receipt, each by its relation, and no more than it was told', async () => {
  const first = makeReceipt();
  const { id } = first.receipt;
  const replays = [1, 2, 3].map(() => makeReceipt({ replay_of: id, key: 'REPLAY', actor: 'cap:a' }));
  const repair = makeReceipt({ repairs: id });
  await insertReceipts(database.store.ledgerPool, [first, ...replays, repair, makeReceipt({ replay_of: 'inv_other' })]);
  const list = (relation: 'replay_of' | 'repairs', limit: number) =>
    listLaterCalls(database.store.db, { relation, id, limit });
  const ids = replays.map(({ receipt }) => receipt.id).reverse();
  expect((await list('replay_of', 50)).map((call) => call.id)).toEqual(ids);
  expect((await list('replay_of', 2)).map((call) => call.id)).toEqual(ids.slice(0, 2));
  expect(await list('repairs', 50)).toEqual([
    {
      id: repair.receipt.id,
      key: 'ECHO',
      actor: 'owner',
      outcome: 'succeeded',
      material: true,
      started_at: '2026-01-02T03:04:05.000Z',
    },
  ]);
});
