import { insertReceipts } from '@rowcall/store';
import { makeReceipt, type TestStore, testStore } from '@rowcall/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Completions } from './completions.js';

const LONG_MS = 20_000;

describe('completions', () => {
  let database: TestStore;
  let completions: Completions;

  beforeAll(async () => {
    database = await testStore();
  });

  beforeEach(() => {
    completions = new Completions(database.store);
  });

  afterAll(async () => {
    await database.drop();
  });

  test('wake those whose calls one notification names, and no other', async () => {
    const waits = ['inv_1', 'inv_2', 'inv_3'].map((id) => completions.wait(id, LONG_MS));
    completions.subscription.onNotification('inv_9 inv_3 inv_1');
    expect(await Promise.all([waits[0], waits[2]])).toEqual([true, true]);
    completions.abandon('inv_2');
    expect(await waits[1]).toBe(false);
  });

  test('wake those whose calls ended while nobody listened', async () => {
    const record = makeReceipt();
    const ended = completions.wait(record.receipt.id, LONG_MS);
    const open = completions.wait('inv_open', LONG_MS);
    await insertReceipts(database.store.ledgerPool, [record]);
    await completions.subscription.onConnected?.();
    expect(await ended).toBe(true);
    completions.stop();
    expect(await open).toBe(false);
  });

  test('say that the time is up', async () => {
    expect(await completions.wait('inv_1', 1)).toBe(false);
  });

  test('let nobody wait after the stop', async () => {
    completions.stop();
    expect(await completions.wait('inv_1', LONG_MS)).toBe(false);
  });
});
