import { silentLog } from '@rowcall/protocol';
import { makeReceipt, type TestStore, testStore } from '@rowcall/testing';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { Ledger } from './ledger.js';
import { openPool } from './pool.js';
import { insertReceipts } from './receipt.js';
import { openClient, terminateBackends, waitForLockWaiter } from './testing/clients.js';
import { startProxy, type TestProxy } from './testing/proxy.js';

describe('the ledger', () => {
  let database: TestStore;
  let other: pg.Client;
  let proxy: TestProxy;
  let pool: pg.Pool;

  beforeAll(async () => {
    database = await testStore();
    other = await openClient(database.url);
  });

  afterAll(async () => {
    await other.end();
    await database.drop();
  });

  beforeEach(async () => {
    proxy = await startProxy(database.url);
    pool = openPool(proxy.url, { max: 2, name: 'test-ledger', log: silentLog, queryTimeoutMs: 10_000 });
  });

  afterEach(async () => {
    await pool.end();
    await proxy.close();
  });

  const countStored = async (records: ReturnType<typeof makeReceipt>[]) => {
    const ids = records.map(({ receipt }) => receipt.id);
    const { rows } = await other.query<{ count: number }>(
      `select count(*)::int as count from receipt join receipt_payload on receipt_id = id where id = any($1)`,
      [ids],
    );
    return rows[0]?.count;
  };
  const makeReceipts = (count: number) => Array.from({ length: count }, () => makeReceipt());

  /** Makes every write of receipts wait, until the returned function is called. */
  const holdWrites = async () => {
    await other.query('begin; lock table receipt in share mode');
    return () => other.query('commit');
  };

  test('resolves no promise before its receipt is committed', async () => {
    const ledger = new Ledger(pool, { log: silentLog });
    const record = makeReceipt();
    const letGo = await holdWrites();
    let isAnswered = false;
    const committed = ledger.commit(record).then(async () => {
      isAnswered = true;
      return countStored([record]);
    });
    const observer = await openClient(database.url);
    await waitForLockWaiter(observer);
    await observer.end();
    expect(isAnswered).toBe(false);
    await letGo();
    expect(await committed).toBe(1);
  });

  test('commits receipts of concurrent calls together', async () => {
    const batches: number[] = [];
    const write = async (records: Parameters<typeof insertReceipts>[1]) => {
      batches.push(records.length);
      return insertReceipts(pool, records);
    };
    const ledger = new Ledger(pool, { log: silentLog, write });
    const records = makeReceipts(1_200);
    await Promise.all(records.map((record) => ledger.commit(record)));
    expect(await countStored(records)).toBe(1_200);
    // Two begin early, so that the database has work; what comes meanwhile gathers behind them.
    expect(batches).toEqual([16, 16, 500, 500, 168]);
  });

  test('spreads large payloads over several commits', async () => {
    const batches: number[] = [];
    const write = async (records: Parameters<typeof insertReceipts>[1]) => {
      batches.push(records.length);
      return insertReceipts(pool, records);
    };
    const ledger = new Ledger(pool, { log: silentLog, write });
    const result = JSON.stringify('x'.repeat(3 * 1024 * 1024));
    const records = [1, 2, 3, 4, 5].map(() => makeReceipt({}, { result }));
    await Promise.all(records.map((record) => ledger.commit(record)));
    expect(batches).toEqual([2, 2, 1]);
    expect(await countStored(records)).toBe(5);
  });

  test.each([
    ['a text column', makeReceipt({ reason: 'a\0b' })],
    ['the payload', makeReceipt({}, { request: 'a\0b' })],
    ['a column with a check', makeReceipt({ outcome: 'lucky' as 'failed' })],
  ])(
    'fails a receipt alone that the database refuses for %s, and commits the rest of its batch',
    async (_name, poison) => {
      const ledger = new Ledger(pool, { log: silentLog });
      const before = makeReceipts(30);
      const after = makeReceipts(70);
      const results = Promise.allSettled([...before, poison, ...after].map((record) => ledger.commit(record)));
      const rejected = (await results).flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
      expect(rejected).toHaveLength(1);
      expect(rejected[0]).toMatchObject({
        code: 'ledger_unavailable',
        message: 'the receipt of the call could not be written',
        details: { ran: true, receipt: poison.receipt.id },
      });
      expect(await countStored([...before, ...after])).toBe(100);
      expect(await countStored([poison])).toBe(0);
    },
  );

  test('loses and doubles nothing when its connections are ended again and again', async () => {
    const ledger = new Ledger(pool, { log: silentLog });
    const records = makeReceipts(400);
    const commits: Promise<void>[] = [];
    for (let start = 0; start < 400; start += 50) {
      for (const record of records.slice(start, start + 50)) commits.push(ledger.commit(record));
      await vi.waitFor(async () => expect(await terminateBackends(other, 'test-ledger')).toBeGreaterThan(0));
    }
    await Promise.all(commits);
    expect(await countStored(records)).toBe(400);
  });

  test('writes what came in while the database was away', async () => {
    const ledger = new Ledger(pool, { log: silentLog });
    await ledger.commit(makeReceipt());
    proxy.cut();
    const records = makeReceipts(50);
    const failures = vi.spyOn(silentLog, 'warn');
    const commits = Promise.all(records.map((record) => ledger.commit(record)));
    await vi.waitFor(() => expect(failures).toHaveBeenCalled());
    expect(await countStored(records)).toBe(0);
    proxy.restore();
    await commits;
    expect(await countStored(records)).toBe(50);
  });

  test('tells a caller whose patience ends that the row ran, and writes the receipt later', async () => {
    const ledger = new Ledger(pool, { log: silentLog, patienceMs: 30 });
    const ran = makeReceipt();
    const denied = makeReceipt({ output_hash: null });
    proxy.cut();
    const [first, second] = await Promise.allSettled([ledger.commit(ran), ledger.commit(denied)]);
    expect(first).toMatchObject({
      reason: { code: 'ledger_unavailable', details: { ran: true, receipt: ran.receipt.id } },
    });
    expect(second).toMatchObject({
      reason: { code: 'ledger_unavailable', details: { ran: false, receipt: denied.receipt.id } },
    });
    expect(await countStored([ran, denied])).toBe(0);
    proxy.restore();
    await vi.waitFor(async () => expect(await countStored([ran, denied])).toBe(2));
  });

  test('refuses calls before they run while 5,000 receipts wait', async () => {
    const ledger = new Ledger(pool, { log: silentLog, patienceMs: 60_000 });
    const letGo = await holdWrites();
    const records = makeReceipts(5_032);
    // Two batches of 16 are in flight; the others wait.
    const commits = records.slice(0, 32).map((record) => ledger.commit(record));
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    for (const record of records.slice(32)) {
      ledger.admit();
      commits.push(ledger.commit(record));
    }
    expect(() => ledger.admit()).toThrow('5000 receipts wait to be written; nothing was run');
    await letGo();
    await Promise.all(commits);
    expect(() => ledger.admit()).not.toThrow();
    expect(await countStored(records)).toBe(5_032);
  });

  test('waits at its stop until every receipt is written', async () => {
    const ledger = new Ledger(pool, { log: silentLog });
    const records = makeReceipts(700);
    const commits = Promise.all(records.map((record) => ledger.commit(record)));
    expect(await ledger.stop(10_000)).toBe(0);
    expect(await countStored(records)).toBe(700);
    await commits;
    expect(await ledger.stop(10_000)).toBe(0);
  });

  test('gives up at its stop after the grace, tells how many are lost, and lets the callers know', async () => {
    const ledger = new Ledger(pool, { log: silentLog });
    proxy.cut();
    const results = Promise.allSettled(makeReceipts(3).map((record) => ledger.commit(record)));
    expect(await ledger.stop(50)).toBe(3);
    for (const result of await results) expect(result).toMatchObject({ reason: { code: 'ledger_unavailable' } });
  });
});
