import { cpus } from 'node:os';
import { cpuOfTree, readProcesses } from './process-table.js';

/** CPU time, in ms, that all cores together spent on anything since the machine started. */
function readBusyMs(): number {
  return cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0);
}

function readOwnMs(roots: readonly number[]): number | undefined {
  return cpuOfTree(readProcesses(), roots);
}

/**
 * Begins to watch how much of the machine others take: figures of a machine that others use are worth less.
 * @param postgresPid undefined for a server that was given: then the others cannot be told from it.
 * @returns ends the watch and gives the cores that other processes took on average; undefined when it cannot be told.
 */
export const watchOthers = (postgresPid: number | undefined): (() => number | undefined) =>
  watchOthersThan(postgresPid === undefined ? [] : [process.pid, postgresPid]);

/** The same for a run of its own processes: `roots` and all below them; none: it cannot be told. */
export function watchOthersThan(roots: readonly number[]): () => number | undefined {
  const before = { at: performance.now(), busyMs: readBusyMs(), ownMs: readOwnMs(roots) };
  return () => {
    const ownMs = readOwnMs(roots);
    if (ownMs === undefined || before.ownMs === undefined) return undefined;
    const othersMs = readBusyMs() - before.busyMs - (ownMs - before.ownMs);
    return Math.max(0, othersMs / (performance.now() - before.at));
  };
}
