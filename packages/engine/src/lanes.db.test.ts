import { silentLog } from '@rowcall/protocol';
import { deleteProcess, drainProcess, insertProcess, Listener } from '@rowcall/store';
import { type TestStore, testStore } from '@rowcall/testing';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { Lanes } from './lanes.js';

let database: TestStore;
let lanes: Lanes;
let listener: Listener;

beforeAll(async () => {
  database = await testStore();
  lanes = new Lanes(database.store, silentLog);
  listener = new Listener({ url: database.url, name: 'lanes', log: silentLog, subscriptions: [lanes.subscription] });
  await listener.start();
});

afterAll(async () => {
  lanes.stop();
  await listener.stop();
  await database.drop();
});

const register = (id: string, ...served: string[]) =>
  insertProcess(database.store.db, { id, lanes: served, concurrency: 1, host: 'host', pid: 1 });
const untilLive = (expected: string[]) => vi.waitFor(() => expect(lanes.live).toEqual(expected));

test('knows at once which lanes are served, as runners come, drain and go', async () => {
  expect(lanes.isLive('mac')).toBe(false);
  await register('r1', 'mac', 'default');
  await register('r2', 'mac');
  await untilLive(['default', 'mac']);
  await drainProcess(database.store.db, 'r1');
  await untilLive(['mac']);
  await deleteProcess(database.store.db, 'r2');
  await untilLive([]);
});

test('finds out by itself that a runner has died, which says nothing', async () => {
  await register('r3', 'dying');
  await untilLive(['dying']);
  await database.store.pool.query(`update process set heartbeat_at = now() - interval '1 minute'`);
  await vi.waitFor(() => expect(lanes.isLive('dying')).toBe(false), { timeout: 10_000, interval: 50 });
});

test('shows what holds now when looks follow each other closely', async () => {
  for (let turn = 0; turn < 20; turn += 1) {
    await register(`busy_${turn}`, 'busy');
    await deleteProcess(database.store.db, `busy_${turn}`);
  }
  await register('last', 'last');
  await untilLive(['last']);
});
