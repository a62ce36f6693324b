import { linkSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPrivateFile, replacePrivateFile } from '@rowcall/process';
import { findProcessMark } from './process-mark.js';

const LOCK_FILE = 'server.json';
/** How long, in ms, the processes of a server that was killed get to end by themselves. */
const LEFTOVERS_MS = 15_000;

/** A process, so described that another one that gets its id is not taken for it. */
interface MarkedProcess {
  readonly pid: number;
  readonly mark: string;
}

/** What the file says: which server has the data folder, and what it consists of. */
interface Holder extends MarkedProcess {
  /** Address of the API; null until it is ready. */
  readonly url: string | null;
  readonly parts: readonly MarkedProcess[];
}

/** The right to run a server on a data folder. It ends with the process, however that ends. */
export interface DataLock {
  /** Tells other starts, and programs on this machine, where the server is and which processes it has. */
  publish(url: string | null, pids: readonly number[]): void;
  release(): void;
}

/**
 * Takes the data folder for this process. What a killed server left behind gets time to end first.
 * @throws Error naming the server that runs on the folder already, and its address.
 */
export async function takeDataLock(dataDir: string): Promise<DataLock> {
  const file = path.join(dataDir, LOCK_FILE);
  const self = { pid: process.pid, mark: findProcessMark(process.pid) ?? '' };
  const toText = (url: string | null, parts: readonly MarkedProcess[]) =>
    `${JSON.stringify({ ...self, url, parts } satisfies Holder)}\n`;
  while (!createPrivateFile(file, toText(null, []))) {
    const text = readText(file);
    const holder = parseHolder(text);
    if (holder !== undefined && isRunning(holder)) throw new Error(toRefusal(dataDir, holder));
    removeStale(file, text);
    await untilGone(holder?.parts ?? []);
  }
  return {
    publish: (url, pids) => replacePrivateFile(file, toText(url, pids.flatMap(toMarked))),
    release: () => rmSync(file, { force: true }),
  };
}

function toRefusal(dataDir: string, { pid, url }: Holder): string {
  const where = url === null ? 'it is just starting' : `it is at ${url}`;
  return `rowcall runs already on ${dataDir} (process ${pid}): ${where}. Stop it, or set ROWCALL_DATA_DIR to another folder`;
}

const toMarked = (pid: number): MarkedProcess[] => {
  const mark = findProcessMark(pid);
  return mark === undefined ? [] : [{ pid, mark }];
};

const isRunning = ({ pid, mark }: MarkedProcess): boolean => findProcessMark(pid) === mark;

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // released between the two looks
  }
}

function parseHolder(text: string): Holder | undefined {
  try {
    const { pid, mark, url, parts } = JSON.parse(text) as Partial<Holder>;
    if (typeof pid !== 'number' || typeof mark !== 'string') return undefined;
    return { pid, mark, url: url ?? null, parts: parts ?? [] };
  } catch {
    return undefined;
  }
}

/** Moves the file aside and looks again: when another start was faster, it is that one's by now and goes back. */
function removeStale(file: string, text: string): void {
  const aside = `${file}.stale-${process.pid}`;
  try {
    renameSync(file, aside);
    if (readText(aside) !== text) linkSync(aside, file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'EEXIST') throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

async function untilGone(parts: readonly MarkedProcess[]): Promise<void> {
  const until = performance.now() + LEFTOVERS_MS;
  while (parts.some(isRunning) && performance.now() < until) await sleep(50);
}
