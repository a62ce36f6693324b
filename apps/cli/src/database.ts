import { chmodSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@rowcall/embedded-postgres';
import type { Run } from './kept.js';

/** The database that the server brings. */
export interface DatabaseRun extends Run {
  readonly url: string;
  readonly pid: number;
}

/** How long, in ms, a database that a killed server left behind may take to end. */
const LEFTOVER_MS = 5_000;

const PRIVATE = 0o700;
const PASSABLE = 0o711;

/** Starts the embedded database. One that is left from a server that was killed is about to end, and not worth joining. */
export async function startDatabase(dir: string): Promise<DatabaseRun> {
  let database = await startReachable(dir);
  if (database.reused && (await endsWithin(database, LEFTOVER_MS))) database = await startReachable(dir);
  return toRun(database);
}

/**
 * Postgres does not run as root. Where root may not give it a user namespace, as in most containers, it runs as another
 * user, who has to pass through the data folder: then that may be passed through, and still not be listed.
 */
async function startReachable(dir: string): Promise<EmbeddedPostgres> {
  try {
    return await startEmbeddedPostgres({ dir });
  } catch (error) {
    const folder = dirname(dir);
    if (process.getuid?.() !== 0 || (statSync(folder).mode & 0o777) !== PRIVATE) throw error;
    chmodSync(folder, PASSABLE);
    return await startEmbeddedPostgres({ dir }).catch(() => {
      chmodSync(folder, PRIVATE);
      throw error;
    });
  }
}

async function endsWithin(database: EmbeddedPostgres, ms: number): Promise<boolean> {
  const late = new AbortController();
  const timeout = sleep(ms, false, { signal: late.signal }).catch(() => false);
  const gone = await Promise.race([database.ended.then(() => true), timeout]);
  late.abort();
  return gone;
}

function toRun(database: EmbeddedPostgres): DatabaseRun {
  let onStopped: (how: string) => void = () => undefined;
  const stopped = new Promise<string>((resolve) => {
    onStopped = resolve;
  });
  const ended = database.ended.then(({ code, signal }) => signal ?? `exit code ${code}`);
  return {
    url: database.url,
    pid: database.pid,
    ended: Promise.race([ended, stopped]),
    async stop() {
      await database.stop();
      onStopped('stopped');
    },
  };
}
