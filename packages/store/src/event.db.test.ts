import { type TestStore, testStore } from '@rowcall/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertEvent } from './event.js';

let database: TestStore;

beforeAll(async () => {
  database = await testStore();
});

afterAll(async () => {
  await database.drop();
});

test('writes an event as it is given, with nothing where nothing is given', async () => {
  const { db, pool } = database.store;
  await insertEvent(db, {
    kind: 'DENY',
    actor: 'cap:1',
    key: 'ROW',
    reason: 'a "test"',
    detail: { n: 1, list: ['a'] },
  });
  await insertEvent(db, { kind: 'UNAUTHORIZED', actor: 'nobody' });
  const { rows } = await pool.query('select kind, actor, key, reason, detail from event order by id');
  expect(rows).toEqual([
    { kind: 'DENY', actor: 'cap:1', key: 'ROW', reason: 'a "test"', detail: { n: 1, list: ['a'] } },
    { kind: 'UNAUTHORIZED', actor: 'nobody', key: null, reason: null, detail: {} },
  ]);
});
