import { totalmem } from 'node:os';

const HEAP_MB_MAX = 2_000;

/**
 * Options of Node for a server process. Below 2 GiB of heap V8 collects at twice what lives instead of four times: a
 * great catalogue then takes half the memory. Room for more young objects makes what a call leaves behind cheaper.
 */
function toOptions(memoryBytes: number): string[] {
  const heapMb = Math.min(HEAP_MB_MAX, Math.floor(memoryBytes / 2 ** 21));
  return ['--enable-source-maps', `--max-old-space-size=${heapMb}`, '--max-semi-space-size=16'];
}

/** Bytes of memory that this process may use: those of the machine, or of the container where that has fewer. */
function readMemory(): number {
  const limit = process.constrainedMemory() ?? 0;
  return Math.min(totalmem(), limit > 0 ? limit : Number.POSITIVE_INFINITY);
}

/** Value of NODE_OPTIONS for a server process. What the operator gives comes last, and so wins. */
export const toServerNodeOptions = (given: string | undefined, memoryBytes = readMemory()): string =>
  [...toOptions(memoryBytes), ...(given === undefined ? [] : [given])].join(' ');
