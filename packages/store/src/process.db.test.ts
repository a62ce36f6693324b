import { type TestStore, testStore } from '@rowcall/testing';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { takeOverDeadLeases } from './job.js';
import {
  deleteProcess,
  drainProcess,
  insertProcess,
  listLiveLanes,
  PROCESS_CHANNEL,
  updateHeartbeat,
} from './process.js';
import type { Store } from './store.js';
import { openClient } from './testing/clients.js';

describe('runners', () => {
  let database: TestStore;
  let store: Store;
  let other: pg.Client;
  let announced: number;

  beforeAll(async () => {
    database = await testStore();
    store = database.store;
    other = await openClient(database.url);
    other.on('notification', () => {
      announced += 1;
    });
    await other.query(`listen ${PROCESS_CHANNEL}`);
  });

  beforeEach(async () => {
    await other.query('delete from process');
    announced = 0;
  });

  afterAll(async () => {
    await other.end();
    await database.drop();
  });

  const register = (id: string, ...lanes: string[]) =>
    insertProcess(store.db, { id, lanes, concurrency: 1, host: 'host', pid: 1 });
  const setAge = (column: 'heartbeat_at' | 'beating_since', seconds: number, id = '') =>
    other.query(`update process set ${column} = now() - $1 * interval '1 second' where $2 in ('', id)`, [seconds, id]);
  const listIds = async () => {
    const { rows } = await other.query<{ id: string }>('select id from process order by id');
    return rows.map(({ id }) => id);
  };

  test('make their lanes live while they are registered, and announce coming, draining and going', async () => {
    await register('r1', 'default', 'mac');
    await register('r2', 'default');
    expect((await listLiveLanes(store.db)).sort()).toEqual(['default', 'mac']);
    await drainProcess(store.db, 'r1');
    expect(await listLiveLanes(store.db)).toEqual(['default']);
    await deleteProcess(store.db, 'r2');
    expect(await listLiveLanes(store.db)).toEqual([]);
    await vi.waitFor(() => expect(announced).toBe(4));
  });

  test('serve no lane when their heartbeat is old, and again when they beat', async () => {
    await register('r1', 'default');
    await setAge('heartbeat_at', 16);
    expect(await listLiveLanes(store.db)).toEqual([]);
    expect(await updateHeartbeat(store.db, 'r1')).toBe(true);
    expect(await listLiveLanes(store.db)).toEqual(['default']);
  });

  test('learn at their next beat that they were declared dead', async () => {
    expect(await updateHeartbeat(store.db, 'gone')).toBe(false);
  });

  test('are declared dead by one that has been beating for long', async () => {
    await register('dead', 'default');
    await register('judge', 'default');
    await setAge('beating_since', 60, 'judge');
    await setAge('heartbeat_at', 14, 'dead');
    await takeOverDeadLeases(store.db, 'judge');
    expect(await listIds()).toEqual(['dead', 'judge']);
    await setAge('heartbeat_at', 16, 'dead');
    await takeOverDeadLeases(store.db, 'judge');
    expect(await listIds()).toEqual(['judge']);
  });

  test('are not declared dead by one that came a moment ago', async () => {
    await register('old', 'default');
    await setAge('heartbeat_at', 16);
    await register('new', 'default');
    await takeOverDeadLeases(store.db, 'new');
    expect(await listIds()).toEqual(['new', 'old']);
  });

  test('declare nobody dead, themselves included, after the database was away for everyone', async () => {
    await register('a', 'default');
    await register('b', 'default');
    await setAge('beating_since', 600);
    await setAge('heartbeat_at', 20);
    await takeOverDeadLeases(store.db, 'a');
    await updateHeartbeat(store.db, 'a');
    await takeOverDeadLeases(store.db, 'a');
    expect(await listIds()).toEqual(['a', 'b']);
  });

  test('stay judges while their heartbeats come without a gap', async () => {
    await register('a', 'default');
    await setAge('beating_since', 600);
    await setAge('heartbeat_at', 4);
    await updateHeartbeat(store.db, 'a');
    await register('b', 'default');
    await setAge('heartbeat_at', 16, 'b');
    await takeOverDeadLeases(store.db, 'a');
    expect(await listIds()).toEqual(['a']);
  });
});
