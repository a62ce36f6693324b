import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startEmbeddedPostgres } from '@rowcall/embedded-postgres';
import pg from 'pg';
import type { Cleanup } from './cleanup.js';

/** The database of a run. */
export interface BenchDatabase {
  readonly url: string;
  /** The postmaster; undefined for a server that was given, whose processes are not ours to measure. */
  readonly pid: number | undefined;
  /** Folder for what else the run writes. */
  readonly folder: string;
  /** Its version, and the settings that make a commit durable. */
  readonly settings: Readonly<Record<string, string>>;
}

const SETTINGS = ['server_version', 'fsync', 'full_page_writes', 'synchronous_commit', 'wal_sync_method'];

/** Which database a run uses. */
export interface DatabaseOptions {
  /** Address of a database that was made for the run; undefined to start one. */
  readonly given: string | undefined;
  /** Further settings of a server that is started. */
  readonly settings?: Readonly<Record<string, string>>;
}

/**
 * Starts a durable database of its own, or takes the given one.
 * @throws Error when a commit there is not durable: its figures could not be compared with any.
 */
export async function openDatabase(options: DatabaseOptions, cleanup: Cleanup): Promise<BenchDatabase> {
  const folder = await mkdtemp(path.join(tmpdir(), 'rowcall-bench-'));
  cleanup.add(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  const { given } = options;
  const { url, pid } = given === undefined ? await startOwn(folder, options, cleanup) : { url: given, pid: undefined };
  const settings = await readSettings(url);
  for (const name of ['fsync', 'full_page_writes', 'synchronous_commit']) {
    if (settings[name] !== 'on')
      throw new Error(`${name} is ${settings[name]}: commits must be durable to be measured`);
  }
  return { url, pid, folder, settings };
}

async function startOwn(folder: string, { settings = {} }: DatabaseOptions, cleanup: Cleanup) {
  const server = await startEmbeddedPostgres({ dir: path.join(folder, 'postgres'), settings });
  cleanup.add(() => server.stop());
  return server;
}

/** One connection for the run's own questions. Commits are durable whatever the server's default. */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, options: '-c synchronous_commit=on' });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function readSettings(url: string): Promise<Record<string, string>> {
  return await withClient(url, async (client) => {
    const { rows } = await client.query<{ name: string; setting: string }>(
      'select name, setting from pg_settings where name = any($1::text[])',
      [SETTINGS],
    );
    return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
  });
}
