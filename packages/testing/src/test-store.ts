import { randomBytes } from 'node:crypto';
import { type Log, silentLog } from '@rowcall/protocol';
import { openStore, type Store } from '@rowcall/store';
import pg from 'pg';
import { inject } from 'vitest';
import { toDatabaseUrl } from './database-url.js';

/** A database of its own for a test file, with the newest schema and no rows. */
export interface TestStore {
  readonly store: Store;
  readonly url: string;
  /** Ends the store and drops the database. */
  drop(): Promise<void>;
}

async function asSuperuser<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: inject('superuserUrl') });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Copies the migrated template. Commits and notifications are real; nothing is rolled back. */
export async function testStore(log: Log = silentLog): Promise<TestStore> {
  const database = `test_${randomBytes(6).toString('hex')}`;
  await asSuperuser((client) => client.query(`create database ${database} template ${inject('templateDatabase')}`));
  const url = toDatabaseUrl(inject('superuserUrl'), database);
  const store = openStore({ url, name: 'test', log });
  return {
    store,
    url,
    async drop() {
      await store.close();
      await asSuperuser((client) => client.query(`drop database if exists ${database} with (force)`));
    },
  };
}

/** An empty database, without the schema. */
export async function emptyDatabase(): Promise<{ url: string; drop: () => Promise<void> }> {
  const database = `test_${randomBytes(6).toString('hex')}`;
  await asSuperuser((client) => client.query(`create database ${database}`));
  return {
    url: toDatabaseUrl(inject('superuserUrl'), database),
    drop: async () => void (await asSuperuser((client) => client.query(`drop database ${database} with (force)`))),
  };
}
