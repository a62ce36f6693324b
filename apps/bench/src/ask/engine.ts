import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Catalogue } from '@rowcall/catalogue';
import type { Latency } from '../statistics.js';
import { Stopwatch } from '../stopwatch.js';

const RESULTS = 12;
/** Bytes that are hashed as the fixed work: about as long as a search takes. */
const FIXED_WORK_BYTES = 65_536;

/** How long searches took, and work beside them that is always the same: what that varies by is the machine's doing. */
export interface EngineFigures {
  readonly search: Latency;
  /** CPU time of the same searches. */
  readonly searchCpu: Latency;
  readonly fixedWork: Latency;
}

/**
 * Searches a catalogue of this process, one question after the other, and does a piece of fixed work after each. Between
 * them it takes what was changed.
 */
export async function measureSearch(catalogue: Catalogue, questions: readonly string[]): Promise<EngineFigures> {
  const [searches, works] = [new Stopwatch(), new Stopwatch()];
  const bytes = Buffer.alloc(FIXED_WORK_BYTES);
  for (const question of questions) {
    searches.time(() => catalogue.search(question, { limit: RESULTS }));
    works.time(() => createHash('sha256').update(bytes).digest());
    await nextTurn();
  }
  return { search: searches.wall, searchCpu: searches.cpu, fixedWork: works.wall };
}
