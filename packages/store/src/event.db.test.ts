import { makeReceipt, type TestStore, testStore } from '@rowcall/testing';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { EVENT_CHANNEL, insertEvent, insertEvents, listEvents } from './event.js';
import { insertReceipts } from './receipt.js';
import { openClient } from './testing/clients.js';

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

test('writes many events in their order, or none of them', async () => {
  const { db } = database.store;
  const many = Array.from({ length: 2_500 }, (_, n) => ({ kind: 'MANY', actor: 'a', reason: `${n}` }));
  await insertEvents(db, many);
  const read = await listEvents(db, { kind: 'MANY', limit: 3_000, order: 'asc' });
  expect(read.map(({ reason }) => reason)).toEqual(many.map(({ reason }) => reason));
  const bad = [...many, { kind: 'MANY', actor: 'a', reason: 'has \0' }];
  await expect(insertEvents(db, bad)).rejects.toThrow();
  expect(await listEvents(db, { kind: 'MANY', limit: 3_000, order: 'asc' })).toHaveLength(2_500);
  await insertEvents(db, []);
});

test.each(['origin', 'replica'])('a denied receipt is an event, whoever writes it (%s); no other is', async (role) => {
  const { ledgerPool, db } = database.store;
  const denied = makeReceipt({
    key: `DENIED_${role}`,
    actor: 'cap:abc',
    outcome: 'denied',
    status: 'PROVEN_ATTEMPT_NO_MATERIAL_RESULT',
    material: false,
    error: 'scope_mismatch',
  });
  const others = (['succeeded', 'failed', 'timed_out', 'cancelled', 'interrupted'] as const).map((outcome) =>
    makeReceipt({ key: `DENIED_${role}`, outcome, error: 'not this' }),
  );
  if (role === 'origin') {
    // Twice, as after a lost connection: one receipt, one event.
    await insertReceipts(ledgerPool, [denied, ...others]);
    await insertReceipts(ledgerPool, [denied, ...others]);
  } else {
    const client = await openClient(database.url);
    await client.query('set session_replication_role = replica');
    const texts = [denied, ...others].map(({ receipt }) => JSON.stringify(receipt));
    await client.query(
      'insert into receipt select r.* from unnest($1::json[]) t, json_populate_record(null::receipt, t) r',
      [texts],
    );
    await client.end();
  }
  const { id, trace } = denied.receipt;
  expect(await listEvents(db, { key: `DENIED_${role}`, limit: 10, order: 'asc' })).toEqual([
    {
      id: expect.any(Number),
      at: expect.any(String),
      kind: 'DENY',
      actor: 'cap:abc',
      key: `DENIED_${role}`,
      reason: 'scope_mismatch',
      detail: { receipt: id, trace },
    },
  ]);
});

test('a transaction announces its events once, when it commits', async () => {
  const [listener, writer] = [await openClient(database.url), await openClient(database.url)];
  const heard: string[] = [];
  listener.on('notification', ({ channel, payload }) => heard.push(`${channel} ${payload}`));
  await listener.query(`listen ${EVENT_CHANNEL}; listen done`);
  await writer.query(`begin; insert into event (kind, actor) values ('K', 'a')`);
  await writer.query('rollback');
  await writer.query(`begin; insert into event (kind, actor) values ('K', 'a'), ('K', 'b')`);
  await writer.query(`insert into event (kind, actor) values ('K', 'c')`);
  await writer.query('commit');
  await writer.query('notify done');
  await vi.waitUntil(() => heard.includes('done '), 5_000);
  expect(heard).toEqual([`${EVENT_CHANNEL} `, 'done ']);
  await Promise.all([listener.end(), writer.end()]);
});
