import { readResidentMb } from './process-table.js';

const SAMPLE_EVERY_MS = 100;

/** Resident memory of a process while it was watched, in MB (10^6 bytes); NaN where it cannot be read. */
export interface MemoryUse {
  readonly beforeMb: number;
  readonly peakMb: number;
  readonly afterMb: number;
}

/** Sums samples up, the oldest first. */
export function toMemoryUse(samplesMb: readonly number[]): MemoryUse {
  return {
    beforeMb: samplesMb[0] ?? Number.NaN,
    peakMb: samplesMb.length === 0 ? Number.NaN : Math.max(...samplesMb),
    afterMb: samplesMb.at(-1) ?? Number.NaN,
  };
}

/** Begins to read a process's resident memory every 100 ms. @returns ends the watch and gives what was read. */
export function watchMemory(pid: number): () => MemoryUse {
  const read = () => readResidentMb(pid) ?? Number.NaN;
  const samplesMb = [read()];
  const timer = setInterval(() => samplesMb.push(read()), SAMPLE_EVERY_MS).unref();
  return () => {
    clearInterval(timer);
    samplesMb.push(read());
    return toMemoryUse(samplesMb);
  };
}
