import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { silentLog } from '@rowcall/protocol';
import { emptyDatabase } from '@rowcall/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { migrate } from './migrate.js';
import { openStore, type Store } from './store.js';

const OWN_MIGRATIONS = new URL('../../../db/migrations/', import.meta.url);

describe('migrate', () => {
  let database: Awaited<ReturnType<typeof emptyDatabase>>;
  let stores: Store[];

  const open = () => {
    const store = openStore({ url: database.url, name: 'migrate', log: silentLog });
    stores.push(store);
    return store;
  };

  const listTables = async () => {
    const { rows } = await open().pool.query<{ name: string }>(
      `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1`,
    );
    return rows.map(({ name }) => name).filter((name) => !name.startsWith('schema_migration'));
  };

  beforeEach(async () => {
    database = await emptyDatabase();
    stores = [];
  });

  afterEach(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await database.drop();
  });

  test('makes every table, and does nothing the second time', async () => {
    const store = open();
    const first = await migrate(store);
    expect(first[0]).toBe('0001_directory_ledger_queue');
    expect(await listTables()).toEqual([
      'approval',
      'ask',
      'capability_grant',
      'directory',
      'directory_version',
      'event',
      'idempotency',
      'job',
      'oauth_token',
      'opened',
      'process',
      'receipt',
      'receipt_payload',
      'row_embedding',
    ]);
    expect(await migrate(store)).toEqual([]);
  });

  test('applies each migration once when processes start together', async () => {
    const applied = await Promise.all([open(), open(), open(), open()].map((store) => migrate(store)));
    const files = (await readdir(OWN_MIGRATIONS)).sort();
    expect(applied.flat()).toEqual(files.map((file) => file.replace(/\.sql$/, '')));
  });

  test('leaves nothing of a run in which one migration fails', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'rowcall-migrations-'));
    try {
      await cp(OWN_MIGRATIONS, folder, { recursive: true });
      await writeFile(path.join(folder, '9998_good.sql'), 'create table made_by_good ();');
      await writeFile(path.join(folder, '9999_bad.sql'), 'create table made_by_bad (); select 1 / 0;');
      const failing = migrate(open(), pathToFileURL(`${folder}/`));
      await expect(failing).rejects.toThrow('migration failed: 9999_bad');
      expect(await listTables()).toEqual([]);
    } finally {
      await rm(folder, { recursive: true });
    }
    expect(await migrate(open())).toContain('0001_directory_ledger_queue');
  });
});
