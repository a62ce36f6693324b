import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Row } from '@rowcall/protocol';
import type { Latency } from '../statistics.js';
import { Stopwatch } from '../stopwatch.js';
import type { Question } from './data.js';
import { RESULTS_MAX } from './metrics.js';
import type { Ranked } from './ranking.js';
import type { Build, Search } from './systems.js';

/** A system's answers, and what they took. */
export interface Run {
  readonly answers: readonly { readonly id: string; readonly ranked: Ranked }[];
  readonly latency: Latency;
  /** CPU time per question. */
  readonly cpu: Latency;
  readonly buildMs: number;
  /** What the index holds of memory, heap and buffers, in MB (10^6 bytes). */
  readonly memoryMb: number;
}

/** Questions that are asked before those that count. */
const WARM_UP = 200;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function readMemoryMb(): number {
  // Twice: the first leaves what has something to do at its end.
  collectGarbage();
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1e6;
}

/** Builds a system's index of the rows and asks it all questions, one after the other. */
export function measure(build: Build, rows: readonly Row[], questions: readonly Question[]): Run {
  const { search, ...built } = buildIndex(build, rows);
  return { ...askAll(search, questions), ...built };
}

function buildIndex(build: Build, rows: readonly Row[]) {
  const memoryBefore = readMemoryMb();
  const startedAt = performance.now();
  const search = build(rows);
  const buildMs = performance.now() - startedAt;
  return { search, buildMs, memoryMb: readMemoryMb() - memoryBefore };
}

function askAll(search: Search, questions: readonly Question[]) {
  for (const { query } of questions.slice(0, WARM_UP)) search(query, RESULTS_MAX);
  const watch = new Stopwatch();
  const answers = questions.map(({ id, query }) => ({ id, ranked: watch.time(() => search(query, RESULTS_MAX)) }));
  return { answers, latency: watch.wall, cpu: watch.cpu };
}
