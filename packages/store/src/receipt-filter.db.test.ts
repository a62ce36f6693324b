import { type TestStore, testStore } from '@rowcall/testing';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ReceiptFilter, toWalks } from './receipt-filter.js';
import { ALL_IDS, walkReceipts } from './receipt-walk.js';

const CASES: readonly (readonly [ReceiptFilter, readonly string[]])[] = [
  [{}, ['receipt_pkey']],
  [{ outcome: 'succeeded', material: true }, ['receipt_pkey']],
  [{ key: 'K' }, ['receipt_key']],
  [{ key: 'K', outcome: 'succeeded', material: true }, ['receipt_key']],
  [{ key: 'K', material: false }, ['receipt_key_miss']],
  [{ key: 'K', outcome: 'failed' }, ['receipt_key_miss', 'receipt_outcome']],
  [{ key: 'K', waste: true }, ['receipt_key_miss', 'receipt_waste']],
  [{ actor: 'owner' }, ['receipt_actor']],
  [{ actor: 'cap:a', material: false }, ['receipt_actor_miss']],
  [{ key: 'K', actor: 'cap:a' }, ['receipt_key', 'receipt_actor']],
  [
    { key: 'K', actor: 'cap:a', outcome: 'denied', material: false, waste: true },
    ['receipt_key_miss', 'receipt_actor_miss', 'receipt_outcome', 'receipt_waste'],
  ],
  [{ outcome: 'interrupted', material: false }, ['receipt_outcome']],
  [{ material: false }, ['receipt_immaterial']],
  [{ waste: true, material: false }, ['receipt_waste']],
];

describe('the walks of a filter', () => {
  let database: TestStore;
  beforeAll(async () => {
    database = await testStore();
  });
  afterAll(() => database.drop());

  /** Index that a walk goes along when nothing is sorted and no table is read as a whole. */
  const findIndexes = (filter: ReceiptFilter): Promise<string[]> =>
    database.store.db.transaction().execute(async (tx) => {
      for (const way of ['seqscan', 'bitmapscan', 'sort', 'incremental_sort']) {
        await sql`set local ${sql.raw(`enable_${way}`)} = off`.execute(tx);
      }
      const names: string[] = [];
      for (const walk of toWalks(filter, ALL_IDS)) {
        const { rows } = await sql<{ 'QUERY PLAN': string }>`explain ${walkReceipts(walk)}`.execute(tx);
        const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
        names.push(/Index Scan(?: Backward)? using (\w+)/.exec(plan)?.[1] ?? plan);
        expect(plan).not.toMatch(/Sort|Seq Scan/);
      }
      return names;
    });

  test.each(CASES)('%j go along %j', async (filter, indexes) => {
    expect(await findIndexes(filter)).toEqual(indexes);
  });
});
