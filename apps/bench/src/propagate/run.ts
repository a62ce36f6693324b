import { setTimeout as sleep } from 'node:timers/promises';
import { silentLog } from '@rowcall/protocol';
import { openStore } from '@rowcall/store';
import { type Api, newOwnerKey, startApi } from '../api.js';
import { startBackground } from '../background.js';
import { type Cleanup, withCleanup } from '../cleanup.js';
import { COMMIT_TIMES } from '../commits.js';
import { type BenchDatabase, openDatabase, withClient } from '../database.js';
import { Door } from '../door.js';
import { loadRows } from '../load-rows.js';
import { watchOthers } from '../others.js';
import { readProcesses } from '../process-table.js';
import { conclude, describeMachine, say } from '../report.js';
import { type Ends, measureChanges } from './changes.js';
import { hammer } from './monotone.js';
import { type PropagateOptions, parsePropagateOptions } from './options.js';
import { makeBenchRow } from './rows.js';
import { type MemoryReading, type PropagateFigures, propagateToText, toPropagateGoals } from './summary.js';
import { startWatcher } from './watcher.js';

const BACKGROUND_PER_SECOND = 50;
/** Rows of the background changes; the measured ones come after them. */
const BACKGROUND_ROWS = 50;
const HAMMER_MS = 6_000;
const REACH_MS_MAX = 5_000;

interface Parts {
  readonly database: BenchDatabase;
  readonly apiA: Api;
  readonly apiB: Api;
  readonly ends: Ends;
}

async function startParts(options: PropagateOptions, cleanup: Cleanup): Promise<Parts> {
  const database = await openDatabase({ given: options.databaseUrl, settings: COMMIT_TIMES }, cleanup);
  const store = openStore({ url: database.url, name: 'rowcall-bench-load', log: silentLog });
  await loadRows(store, options.rows, makeBenchRow).finally(() => store.close());
  const ownerKey = newOwnerKey();
  // Lost connections are part of the run and no news.
  const apiA = await startApi(database, { ownerKey, logLevel: 'error' });
  cleanup.add(() => apiA.stop());
  const apiB = await startApi(database, { ownerKey, logLevel: 'error' });
  cleanup.add(() => apiB.stop());
  const watcher = await startWatcher(database.url);
  cleanup.add(() => watcher.stop());
  const [a, b] = [new Door(apiA), new Door(apiB)];
  cleanup.add(() => Promise.all([a.close(), b.close()]));
  return { database, apiA, apiB, ends: { a, b, watcher, databaseUrl: database.url } };
}

function readMemory({ apiA, apiB }: Parts, when: string): MemoryReading {
  const processes = readProcesses();
  const of = (pid: number) => processes?.find((one) => one.pid === pid)?.residentMb;
  return { when, aMb: of(apiA.pid), bMb: of(apiB.pid) };
}

/** The rows to change: spread over all, so that every kind is among them. */
function spreadIndexes({ rows, changes }: PropagateOptions): number[] {
  const free = rows - BACKGROUND_ROWS;
  const step = Math.max(1, Math.floor(free / changes));
  return Array.from({ length: changes }, (_, index) => BACKGROUND_ROWS + ((index * step) % free));
}

/** Ends the connections over which the API processes hear of changes; they come back by themselves. */
async function dropListeners(url: string): Promise<void> {
  const { rowCount } = await withClient(url, (client) =>
    client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = 'rowcall-api-listen' and datname = current_database()`,
    ),
  );
  if ((rowCount ?? 0) < 2) throw new Error(`${rowCount} listening connections were found, not those of A and B`);
}

/** @throws Error when B does not come to the version that was written last. */
async function requireReached(b: Door, key: string, version: number): Promise<void> {
  const until = performance.now() + REACH_MS_MAX;
  while ((await b.readVersion(key)) !== version) {
    if (performance.now() > until) throw new Error(`B does not come to version ${version} of ${key}`);
    await sleep(10);
  }
}

async function measureAll(parts: Parts, options: PropagateOptions): Promise<PropagateFigures> {
  const { ends, database, apiA, apiB } = parts;
  const othersSince = watchOthers(database.pid);
  const { a, b } = ends;
  const memory = [readMemory(parts, 'after the start')];
  const indexes = spreadIndexes(options);
  const quiet = await measureChanges(ends, indexes, 1);
  memory.push(readMemory(parts, `after ${indexes.length} changes`));
  const change = (turn: number) => a.replace(makeBenchRow(turn % BACKGROUND_ROWS, turn + 1_000));
  const background = startBackground(change, BACKGROUND_PER_SECOND);
  const busy = await measureChanges(ends, indexes, 2);
  const backgroundPerSecond = await background.stop();
  memory.push(readMemory(parts, `after as many beside ${BACKGROUND_PER_SECOND}/s`));
  const disturb = () => dropListeners(database.url);
  const monotone = await hammer({ a, b, index: 0, durationMs: HAMMER_MS, disturb });
  await requireReached(b, makeBenchRow(0).key, monotone.lastVersion);
  memory.push(readMemory(parts, 'after one row was changed and read without pause'));
  const readyMs = [apiA.readyMs, apiB.readyMs];
  return {
    rows: options.rows,
    readyMs,
    quiet,
    busy,
    backgroundPerSecond,
    monotone,
    memory,
    othersCores: othersSince(),
  };
}

/** `bench propagate`: how soon a row that one process changed is served by another, and what memory the rows take. */
export async function runPropagate(args: readonly string[]): Promise<number> {
  const options = parsePropagateOptions(args);
  const { figures, machine } = await withCleanup(async (cleanup) => {
    const parts = await startParts(options, cleanup);
    const described = describeMachine(parts.database.settings);
    return { figures: await measureAll(parts, options), machine: described };
  });
  say(propagateToText(figures));
  const { jsonFile, check } = options;
  return conclude({
    goals: toPropagateGoals(figures),
    figures: { bench: 'propagate', machine, ...figures },
    jsonFile,
    check,
  });
}
