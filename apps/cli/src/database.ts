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

/** Starts the embedded database. One that is left from a server that was killed is about to end, and not worth joining. */
export async function startDatabase(dir: string): Promise<DatabaseRun> {
  let database = await startEmbeddedPostgres({ dir });
  if (database.reused && (await endsWithin(database, LEFTOVER_MS))) database = await startEmbeddedPostgres({ dir });
  return toRun(database);
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
