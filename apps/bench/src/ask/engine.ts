import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Catalogue } from '@rowcall/catalogue';
import { type Latency, toLatency } from '../statistics.js';

const RESULTS = 12;
/** Bytes that are hashed as the fixed work: about as long as a search takes. */
const FIXED_WORK_BYTES = 65_536;

/** How long searches took, and work beside them that is always the same: what that varies by is the machine's doing. */
export interface EngineFigures {
  readonly search: Latency;
  readonly fixedWork: Latency;
}

/**
 * Searches a catalogue of this process, one question after the other, and does a piece of fixed work after each. Between
 * them it takes what was changed.
 */
export async function measureSearch(catalogue: Catalogue, questions: readonly string[]): Promise<EngineFigures> {
  const [searches, works]: [number[], number[]] = [[], []];
  const bytes = Buffer.alloc(FIXED_WORK_BYTES);
  for (const question of questions) {
    searches.push(time(() => catalogue.search(question, { limit: RESULTS })));
    works.push(time(() => createHash('sha256').update(bytes).digest()));
    await nextTurn();
  }
  return { search: toLatency(searches), fixedWork: toLatency(works) };
}

function time(work: () => unknown): number {
  const startedAt = performance.now();
  work();
  return performance.now() - startedAt;
}
