import { makeReceipt, type TestStore, testStore } from '@rowcall/testing';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { expirePayloads } from './expiry.js';
import { findReceipt, findReceiptPayload, insertReceipts } from './receipt.js';
import { toFirstId } from './receipt-walk.js';
import { openClient } from './testing/clients.js';

const DAY_MS = 86_400_000;
const NOW_MS = Date.parse('2026-06-01T00:00:00Z');
const toId = (daysAgo: number): string => toFirstId(NOW_MS - daysAgo * DAY_MS).padEnd(36, '7');

describe('the expiry of payloads', () => {
  let database: TestStore;

  beforeEach(async () => {
    database = await testStore();
    const ids = [1, 2, 3, 4, 5].map(toId);
    await insertReceipts(
      database.store.ledgerPool,
      ids.map((id) => makeReceipt({ id })),
    );
  });
  afterEach(() => database.drop());

  const hasPayload = async (daysAgo: number) =>
    (await findReceiptPayload(database.store.db, toId(daysAgo))) !== undefined;
  const readEvents = async () =>
    (await sql<{ kind: string; detail: object }>`select kind, detail from event`.execute(database.store.db)).rows;

  test('takes those that are too old, tells how many, and leaves the receipts', async () => {
    const beforeMs = NOW_MS - 2.5 * DAY_MS;
    const expired = await expirePayloads(database.store.db, { beforeMs, limit: 100 });
    expect(expired).toEqual({ mine: true, count: 3, last: toId(3) });
    expect(await Promise.all([1, 2, 3, 4, 5].map(hasPayload))).toEqual([true, true, false, false, false]);
    const { receipt } = makeReceipt({ id: toId(5) });
    expect(await findReceipt(database.store.db, toId(5))).toMatchObject({ input_hash: receipt.input_hash });
    expect(await readEvents()).toEqual([
      { kind: 'PAYLOAD_EXPIRE', detail: { count: 3, before: '2026-05-29T12:00:00.000Z' } },
    ]);
  });

  test('takes the oldest first, no more than it was told, and goes on behind them', async () => {
    const first = await expirePayloads(database.store.db, { beforeMs: NOW_MS, limit: 2 });
    expect(first).toEqual({ mine: true, count: 2, last: toId(4) });
    expect(await Promise.all([3, 4, 5].map(hasPayload))).toEqual([true, false, false]);
    const second = await expirePayloads(database.store.db, { beforeMs: NOW_MS, limit: 2, after: toId(3) });
    expect(second).toEqual({ mine: true, count: 2, last: toId(1) });
    expect(await hasPayload(3)).toBe(true);
  });

  test('writes no event when there is nothing to take', async () => {
    const expired = await expirePayloads(database.store.db, { beforeMs: NOW_MS - 30 * DAY_MS, limit: 100 });
    expect(expired).toEqual({ mine: true, count: 0, last: null });
    expect(await readEvents()).toEqual([]);
  });

  test('leaves the work to the process that is at it', async () => {
    const other = await openClient(database.url);
    try {
      await other.query('begin');
      const { rows } = await other.query<{ lock: string }>(`select pg_try_advisory_xact_lock(7266301004) as lock`);
      expect(rows).toEqual([{ lock: true }]);
      const refused = await expirePayloads(database.store.db, { beforeMs: NOW_MS, limit: 100 });
      expect(refused).toEqual({ mine: false, count: 0, last: null });
      await other.query('commit');
      const taken = await expirePayloads(database.store.db, { beforeMs: NOW_MS, limit: 100 });
      expect(taken).toMatchObject({ mine: true, count: 5 });
    } finally {
      await other.end();
    }
  });
});
