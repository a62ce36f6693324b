import type { Door } from '../door.js';
import { makeBenchRow } from './rows.js';

/** What was read while one row changed as fast as it could. */
export interface MonotoneReads {
  readonly reads: number;
  /** Changes, deletions and new creations included. */
  readonly writes: number;
  /** Answers with an older version than one that had come before the question was asked. */
  readonly wentBack: number;
  readonly firstBack: string | null;
  /** Version at the end, which the reading process has to reach. */
  readonly lastVersion: number;
}

/** What {@link hammer} needs. */
export interface HammerOptions {
  readonly a: Door;
  readonly b: Door;
  /** Which row. */
  readonly index: number;
  readonly durationMs: number;
  /** Done once, half-way, while everything goes on. */
  readonly disturb: () => Promise<unknown>;
}

const READERS = 4;
/** Every so many changes the row is deleted and made anew. */
const RECREATE_EVERY = 25;

/** Judges versions in the order in which they were read. */
export class Highest {
  reads = 0;
  wentBack = 0;
  firstBack: string | null = null;
  #version = 0;

  /** Highest version that was answered so far. */
  get version(): number {
    return this.#version;
  }

  /** Takes an answer to a question that was asked when `floor` was the highest. */
  take(version: number | undefined, floor: number): void {
    this.reads += 1;
    if (version === undefined) return; // deleted at that moment
    this.#version = Math.max(this.#version, version);
    if (version >= floor) return;
    this.wentBack += 1;
    this.firstBack ??= `version ${version} was served after version ${floor}`;
  }
}

/** Changes one row through A as fast as it goes, and reads it at B all the while. */
export async function hammer(options: HammerOptions): Promise<MonotoneReads> {
  const { a, b, index, durationMs, disturb } = options;
  const { key } = makeBenchRow(index);
  const endsAt = performance.now() + durationMs;
  const highest = new Highest();
  const read = async () => {
    while (performance.now() < endsAt) {
      const floor = highest.version;
      highest.take(await b.readVersion(key), floor);
    }
  };
  let writes = 0;
  let lastVersion = 0;
  const write = async () => {
    while (performance.now() < endsAt) {
      writes += 1;
      const row = makeBenchRow(index, writes + 1_000_000);
      if (writes % RECREATE_EVERY === 0) await a.remove(key);
      lastVersion = writes % RECREATE_EVERY === 0 ? await a.create(row) : await a.replace(row);
    }
  };
  const disturbing = new Promise((resolve) => setTimeout(resolve, durationMs / 2)).then(disturb);
  await Promise.all([write(), disturbing, ...Array.from({ length: READERS }, read)]);
  return { ...toResult(highest), writes, lastVersion };
}

const toResult = ({ reads, wentBack, firstBack }: Highest) => ({ reads, wentBack, firstBack });
