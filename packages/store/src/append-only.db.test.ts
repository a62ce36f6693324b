import { randomBytes } from 'node:crypto';
import { makeReceipt, makeRow, type TestStore, testStore } from '@rowcall/testing';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertRow } from './directory.js';
import { insertReceipts } from './receipt.js';
import { openClient } from './testing/clients.js';

const TABLES = ['receipt', 'event', 'directory_version'] as const;
const CHANGES = {
  update: (table: string) => `update ${table} set actor = 'somebody else'`,
  'update of no row': (table: string) => `update ${table} set actor = 'somebody else' where false`,
  delete: (table: string) => `delete from ${table}`,
  truncate: (table: string) => `truncate ${table}`,
};
const ASKERS = ['role of the application', 'owner of the table', 'superuser', 'superuser as a replica'] as const;

const CASES = TABLES.flatMap((table) =>
  (Object.keys(CHANGES) as (keyof typeof CHANGES)[]).flatMap((change) =>
    ASKERS.map((asker) => [table, change, asker] as const),
  ),
);

describe('append-only', () => {
  const suffix = randomBytes(4).toString('hex');
  const owner = `owner_${suffix}`;
  const app = `app_${suffix}`;
  const record = makeReceipt();
  let database: TestStore;
  let superuser: pg.Client;
  let clients: Record<(typeof ASKERS)[number], pg.Client>;

  const openAs = (role: string) => {
    const url = new URL(database.url);
    url.username = role;
    url.password = 'test';
    return openClient(url.href);
  };

  beforeAll(async () => {
    database = await testStore();
    await insertRow(database.store.db, makeRow({ key: 'KEPT' }), { actor: 'owner', fingerprint: 'f' });
    await insertReceipts(database.store.ledgerPool, [record]);
    superuser = await openClient(database.url);
    for (const role of [owner, app]) await superuser.query(`create role ${role} login password 'test'`);
    const { rows } = await superuser.query<{ name: string }>(
      `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`,
    );
    for (const { name } of rows) await superuser.query(`alter table ${name} owner to ${owner}`);
    await superuser.query(`grant all on all tables in schema public to ${app}`);
    const replica = await openClient(database.url);
    await replica.query('set session_replication_role = replica');
    clients = {
      'role of the application': await openAs(app),
      'owner of the table': await openAs(owner),
      superuser,
      'superuser as a replica': replica,
    };
  });

  afterAll(async () => {
    await superuser.query(`drop owned by ${owner}, ${app} cascade; drop role ${owner}, ${app}`);
    await Promise.all(Object.values(clients).map((client) => client.end()));
    await database.drop();
  });

  test.each(CASES)('%s refuses %s by the %s', async (table, change, asker) => {
    const before = await superuser.query(`select * from ${table}`);
    expect(before.rowCount).toBeGreaterThan(0);
    await expect(clients[asker].query(CHANGES[change](table))).rejects.toMatchObject({
      code: '42501',
      message: `${change.split(' ')[0]?.toUpperCase()} on ${table} is refused: the table is append-only`,
    });
    expect((await superuser.query(`select * from ${table}`)).rows).toEqual(before.rows);
  });

  test('a receipt cannot be changed by an insert that meets its id', async () => {
    const upsert = `insert into receipt select * from receipt on conflict (id) do update set actor = 'somebody else'`;
    await expect(superuser.query(upsert)).rejects.toMatchObject({ code: '42501' });
  });

  test.each(ASKERS)('the payload of a receipt cannot be changed by the %s', async (asker) => {
    await expect(clients[asker].query(`update receipt_payload set result = '"other"'`)).rejects.toThrow(
      'UPDATE on receipt_payload is refused: a payload may be deleted, not changed',
    );
  });

  test('the payload of a receipt may be deleted, and the receipt stays', async () => {
    const { id } = record.receipt;
    const deleted = await clients['role of the application'].query(
      'delete from receipt_payload where receipt_id = $1',
      [id],
    );
    expect(deleted.rowCount).toBe(1);
    expect((await superuser.query('select id from receipt where id = $1', [id])).rowCount).toBe(1);
  });
});
