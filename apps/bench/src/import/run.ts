import { setTimeout as sleep } from 'node:timers/promises';
import { type Api, newOwnerKey, startApi } from '../api.js';
import { type Cleanup, withCleanup } from '../cleanup.js';
import { COMMIT_TIMES, readClockOffset, readCommits } from '../commits.js';
import { type BenchDatabase, openDatabase, withClient } from '../database.js';
import { Door } from '../door.js';
import { type MemoryUse, watchMemory } from '../memory-watch.js';
import { watchOthers } from '../others.js';
import { cpuOfTree, readPeakMb, readProcesses } from '../process-table.js';
import { conclude, describeMachine, say } from '../report.js';
import { toImportKey } from './lines.js';
import { type ImportOptions, parseImportOptions } from './options.js';
import { type ImportRound, importToText, type ProcessFigures, toImportGoals } from './summary.js';
import { upload } from './upload.js';

const POLL_MS = 5;
const SERVED_MS_MAX = 300_000;
/** Rows that are asked for one by one at the end. */
const LOOKED_AT = 100;

interface Parts {
  readonly database: BenchDatabase;
  /** The process that imports, and the one that is told of it. */
  readonly processes: readonly Served[];
}

interface Served {
  readonly api: Api;
  readonly door: Door;
}

async function startParts({ databaseUrl }: ImportOptions, cleanup: Cleanup): Promise<Parts> {
  const database = await openDatabase({ given: databaseUrl, settings: COMMIT_TIMES }, cleanup);
  const ownerKey = newOwnerKey();
  const start = async (): Promise<Served> => {
    const api = await startApi(database, { ownerKey });
    cleanup.add(() => api.stop());
    const door = new Door(api);
    cleanup.add(() => door.close());
    return { api, door };
  };
  return { database, processes: [await start(), await start()] };
}

/** Waits until the process serves as many rows, the one with `key` among them. @returns when it did. */
async function waitForRows(door: Door, count: number, key: string): Promise<number> {
  const until = performance.now() + SERVED_MS_MAX;
  while (performance.now() < until) {
    if ((await door.countRows()) >= count && (await door.readVersion(key)) === 1) return performance.now();
    await sleep(POLL_MS);
  }
  throw new Error(`${count} rows were not served within ${SERVED_MS_MAX} ms; ${await door.countRows()} are`);
}

/** @throws Error unless rows from everywhere in the import are served. */
async function requireSpread(door: Door, rows: number): Promise<void> {
  for (let looked = 0; looked < LOOKED_AT; looked += 1) {
    const key = toImportKey(Math.floor((looked * rows) / LOOKED_AT));
    if ((await door.readVersion(key)) !== 1) throw new Error(`${key} was imported and is not served`);
  }
}

type Taken = Pick<ProcessFigures, 'kernelPeakMb' | 'cpuMs' | keyof MemoryUse>;

const readCpuMs = (pid: number): number => cpuOfTree(readProcesses(), [pid]) ?? Number.NaN;

/** Begins to watch a process. @returns ends the watch. */
function watchProcess({ pid }: Api): () => Taken {
  const memorySince = watchMemory(pid);
  const cpuBefore = readCpuMs(pid);
  return () => ({ ...memorySince(), kernelPeakMb: readPeakMb(pid), cpuMs: readCpuMs(pid) - cpuBefore });
}

/** Watches a process from now on. @returns waits until it has `rows` more rows, the one with `lastKey` among them. */
async function expectRows({ api, door }: Served, rows: number, lastKey: string) {
  const count = (await door.countRows()) + rows;
  const taken = watchProcess(api);
  return async () => ({ servedAt: await waitForRows(door, count, lastKey), ...taken() });
}

async function importOnce({ database, processes }: Parts, rows: number): Promise<ImportRound> {
  const { url, pid } = database;
  const [importing] = processes as [Served];
  const lastKey = toImportKey(rows - 1);
  const expected = await Promise.all(processes.map((process) => expectRows(process, rows, lastKey)));
  const postgresBefore = pid === undefined ? undefined : readCpuMs(pid);
  const othersSince = watchOthers(pid);
  const { elapsedMs, answeredAt, bytes } = await upload(importing.api, rows);
  const served = await Promise.all(expected.map((wait) => wait()));
  const othersCores = othersSince();
  const postgresCpuMs = pid === undefined ? undefined : readCpuMs(pid) - (postgresBefore ?? Number.NaN);
  const committedAt = ((await readCommits(url, [lastKey])).get(lastKey) ?? Number.NaN) - readClockOffset();
  await Promise.all(processes.map(({ door }) => requireSpread(door, rows)));
  await requireStored(database, rows);
  const [a, b] = served.map(({ servedAt, ...taken }) => ({
    ...taken,
    answeredToServedMs: servedAt - answeredAt,
    committedToServedMs: servedAt - committedAt,
  })) as [ProcessFigures, ProcessFigures];
  return { elapsedMs, bytes, a, b, postgresCpuMs, othersCores };
}

/** @throws Error unless the database has every row, and none of the bad line. */
async function requireStored({ url }: BenchDatabase, rows: number): Promise<void> {
  const { rows: found } = await withClient(url, (client) =>
    client.query<{ found: string }>(`select count(*) as found from directory where starts_with(key, 'LOAD_')`),
  );
  if (Number(found[0]?.found) !== rows) throw new Error(`of ${rows} rows, ${found[0]?.found} are in the database`);
}

/** `bench import`: how fast and in how much memory many rows come in, and when they are served. */
export async function runImport(args: readonly string[]): Promise<number> {
  const options = parseImportOptions(args);
  const { rows, jsonFile, check } = options;
  const rounds: ImportRound[] = [];
  let machine: ReturnType<typeof describeMachine> | undefined;
  while (rounds.length < options.rounds) {
    rounds.push(
      await withCleanup(async (cleanup) => {
        const parts = await startParts(options, cleanup);
        machine ??= describeMachine(parts.database.settings);
        return importOnce(parts, rows);
      }),
    );
    process.stderr.write(`round ${rounds.length} of ${options.rounds} done\n`);
  }
  say(`verified: ${rows} rows stored and served by both, the bad line told by its number\n`);
  say(importToText({ rows, rounds }));
  const figures = { bench: 'import', machine, rows, rounds };
  return conclude({ goals: toImportGoals({ rows, rounds }), figures, jsonFile, check });
}
