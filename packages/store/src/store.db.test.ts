import { silentLog } from '@rowcall/protocol';
import { type TestStore, testStore } from '@rowcall/testing';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openStore } from './store.js';
import { openClient, terminateBackends } from './testing/clients.js';

describe('a store', () => {
  let database: TestStore;
  let other: pg.Client;

  beforeAll(async () => {
    database = await testStore();
    other = await openClient(database.url);
  });

  afterAll(async () => {
    await other.end();
    await database.drop();
  });

  test('is not opened without an address, which would lead to a database that nobody meant', () => {
    expect(() => openStore({ url: '', name: 'x', log: silentLog })).toThrow('the database url is empty');
  });

  test('lives on when the server ends its idle connections', async () => {
    const warn = vi.fn();
    const store = openStore({ url: database.url, name: 'idle', log: { ...silentLog, warn } });
    await store.pool.query('select 1');
    expect(await terminateBackends(other, 'idle')).toBe(1);
    await vi.waitFor(() => expect(warn).toHaveBeenCalled());
    expect((await store.pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    await store.close();
  });

  test('may be closed twice, and leaves no connection', async () => {
    const store = openStore({ url: database.url, name: 'closed', log: silentLog });
    await Promise.all([store.pool.query('select 1'), store.ledgerPool.query('select 1')]);
    await Promise.all([store.close(), store.close()]);
    await vi.waitFor(async () => expect(await terminateBackends(other, 'closed')).toBe(0));
    await expect(store.pool.query('select 1')).rejects.toThrow();
  });
});
