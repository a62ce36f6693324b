import { silentLog } from '@rowcall/protocol';
import { expirePayloads, findReceiptPayload, insertReceipts } from '@rowcall/store';
import { makeReceipt } from '@rowcall/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { RetentionSweeper } from './retention-sweeper.js';
import { startTestApi, type TestApi } from './testing/test-api.js';

const DAY_MS = 86_400_000;
const PAYLOADS = { what: 'payloads', expire: expirePayloads };
const NOW_MS = Date.parse('2026-06-01T00:00:00Z');
const toId = (daysAgo: number): string =>
  `inv_${(NOW_MS - daysAgo * DAY_MS).toString(16).padStart(12, '0')}`.padEnd(36, '7');

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterEach(() => vi.useRealTimers());
afterAll(() => api.close());

const insert = (...days: number[]) =>
  insertReceipts(
    api.context.store.ledgerPool,
    days.map((daysAgo) => makeReceipt({ id: toId(daysAgo) })),
  );
const hasPayload = async (daysAgo: number) =>
  (await findReceiptPayload(api.context.store.db, toId(daysAgo))) !== undefined;

describe('the sweeper of payloads', () => {
  it('takes a few at a time, the oldest first, until none is too old', async () => {
    await insert(1, 29, 31, 32, 33);
    const sweeper = new RetentionSweeper({
      ...PAYLOADS,
      store: api.context.store,
      log: silentLog,
      days: 30,
      batchMax: 2,
    });
    expect(await sweeper.sweep(NOW_MS)).toBe(true);
    expect(await Promise.all([1, 29, 31, 32, 33].map(hasPayload))).toEqual([true, true, true, false, false]);
    expect(await sweeper.sweep(NOW_MS)).toBe(false);
    expect(await Promise.all([1, 29, 31].map(hasPayload))).toEqual([true, true, false]);
    expect(await sweeper.sweep(NOW_MS + 2 * DAY_MS)).toBe(false);
    expect(await Promise.all([1, 29].map(hasPayload))).toEqual([true, false]);
  });

  it('finds one that came late among those that it has passed', async () => {
    const sweeper = new RetentionSweeper({
      ...PAYLOADS,
      store: api.context.store,
      log: silentLog,
      days: 30,
      batchMax: 2,
    });
    await insert(40, 41, 42);
    expect(await sweeper.sweep(NOW_MS)).toBe(true);
    await insert(50);
    expect(await sweeper.sweep(NOW_MS)).toBe(false);
    expect(await hasPayload(50)).toBe(true);
    expect(await sweeper.sweep(NOW_MS)).toBe(false);
    expect(await hasPayload(50)).toBe(false);
  });

  it('goes on after a sweep that the database did not let through', async () => {
    const warnings: unknown[] = [];
    const log = { ...silentLog, warn: (...line: unknown[]) => void warnings.push(line) };
    const { db } = api.context.store;
    let sweeps = 0;
    // A store that is away at the first sweep.
    const store = {
      get db() {
        sweeps += 1;
        if (sweeps === 1) throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
        return db;
      },
    };
    await insert(60);
    vi.useFakeTimers({ toFake: ['Date'], now: NOW_MS });
    const sweeper = new RetentionSweeper({ ...PAYLOADS, store, log, days: 30, firstAfterMs: 1, everyMs: 1 });
    sweeper.start();
    await vi.waitFor(async () => expect(await hasPayload(60)).toBe(false));
    await sweeper.stop();
    expect(warnings).toHaveLength(1);
    const sweepsAtStop = sweeps;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(sweeps).toBe(sweepsAtStop);
  });

  it('takes nothing where payloads are kept for ever', async () => {
    await insert(70);
    let sweeps = 0;
    const store = {
      get db() {
        sweeps += 1;
        return api.context.store.db;
      },
    };
    const sweeper = new RetentionSweeper({ ...PAYLOADS, store, log: silentLog, days: 0, firstAfterMs: 1, everyMs: 1 });
    sweeper.start();
    await new Promise((resolve) => setTimeout(resolve, 20));
    await sweeper.stop();
    expect({ sweeps, kept: await hasPayload(70) }).toEqual({ sweeps: 0, kept: true });
  });
});
