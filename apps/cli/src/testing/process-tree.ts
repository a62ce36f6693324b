import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { findProcessMark } from '../process-mark.js';

/** A process and the words of its command line. */
export interface TreeProcess {
  readonly pid: number;
  readonly command: string;
}

interface Listed extends TreeProcess {
  readonly parent: number;
}

/** All processes that run, as proc(5) tells (Linux). */
function listProcesses(): Listed[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const parent = /^\d+ \(.*\) \S (\d+)/s.exec(readFileSync(`/proc/${name}/stat`, 'utf8'))?.[1];
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
        return [{ pid: Number(name), parent: Number(parent), command }];
      } catch {
        return []; // ended meanwhile
      }
    });
}

/** The process and everything that descends from it. */
export function listTree(root: number): TreeProcess[] {
  const all = listProcesses();
  const found = all.filter(({ pid }) => pid === root);
  for (const { pid } of found) found.push(...all.filter(({ parent }) => parent === pid));
  return found;
}

/** The one process of the tree whose command line fits. */
export function findInTree(root: number, pattern: RegExp): number {
  const found = listTree(root).filter(({ command }) => pattern.test(command));
  const [first] = found;
  if (first !== undefined && found.length === 1) return first.pid;
  throw new Error(
    `${found.length} processes fit ${pattern}: ${listTree(root)
      .map((each) => each.command)
      .join('; ')}`,
  );
}

/** Milliseconds until none of the processes runs. @throws Error naming those that still do after `limitMs`. */
export async function timeUntilGone(processes: readonly TreeProcess[], limitMs: number): Promise<number> {
  const start = performance.now();
  for (;;) {
    const left = processes.filter(({ pid }) => findProcessMark(pid) !== undefined);
    const ms = performance.now() - start;
    if (left.length === 0) return ms;
    if (ms > limitMs) throw new Error(`still running after ${limitMs} ms: ${left.map((p) => p.command).join('; ')}`);
    await sleep(20);
  }
}
