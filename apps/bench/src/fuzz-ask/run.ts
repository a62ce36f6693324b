import { makeAskRow } from '../ask/rows.js';
import { newChance } from '../chance.js';
import type { Goal } from '../goals.js';
import { watchOthersThan } from '../others.js';
import { conclude, describeMachine, say } from '../report.js';
import { buildProduct } from '../retrieval/product.js';
import type { Latency } from '../statistics.js';
import { Stopwatch } from '../stopwatch.js';
import { toNumber, toTable } from '../table.js';
import { makeHostileQuestion, WORST_QUESTIONS } from './hostile-questions.js';
import { parseFuzzAskOptions } from './options.js';

const LIMIT = 12;
const P99_MS_MAX = 20;
const PROGRESS_EVERY = 10_000;

/** What questions took, by the clock and of the CPU. */
interface Figures {
  readonly wall: Latency;
  readonly cpu: Latency;
}

/** Asks each question once. Making it does not count. @throws Error naming the question at which the search threw. */
function askAll(search: (question: string) => unknown, count: number, make: (index: number) => string): Figures {
  const watch = new Stopwatch();
  for (let index = 0; index < count; index += 1) {
    const question = make(index);
    try {
      watch.time(() => search(question));
    } catch (cause) {
      throw new Error(`question ${index} of this seed throws: ${JSON.stringify(question.slice(0, 500))}`, { cause });
    }
    if ((index + 1) % PROGRESS_EVERY === 0) process.stderr.write(`${index + 1} questions asked\n`);
  }
  return { wall: watch.wall, cpu: watch.cpu };
}

const toLine = (name: string, { wall, cpu }: Figures): string[] => [
  name,
  String(wall.count),
  ...[wall.p50Ms, wall.p99Ms, wall.maxMs, cpu.p99Ms, cpu.maxMs].map(toNumber),
];

/** `bench fuzz-ask`: what hostile questions do to the resolver. */
export async function runFuzzAsk(args: readonly string[]): Promise<number> {
  const { questions, rows, seed, jsonFile, check } = parseFuzzAskOptions(args);
  const machine = describeMachine({});
  const stored = Array.from({ length: rows }, (_, index) => makeAskRow(index)).map((row) => ({
    ...row,
    version: 1,
    created_at: '',
    updated_at: '',
  }));
  const searchRows = buildProduct(stored);
  const search = (question: string) => searchRows(question, LIMIT);
  const othersSince = watchOthersThan([process.pid]);
  const chance = newChance(seed);
  const random = askAll(search, questions, () => makeHostileQuestion(chance));
  const worst = askAll(search, WORST_QUESTIONS.length, (index) => WORST_QUESTIONS[index] ?? '');
  const othersCores = othersSince();
  say(`${rows} rows; nothing was thrown\n`);
  const lines = [toLine('random', random), toLine('worst of each kind', worst)];
  say(toTable(['questions', 'count', 'p50 ms', 'p99 ms', 'max ms', 'CPU p99 ms', 'CPU max ms'], lines));
  say(`\nother processes took ${toNumber(othersCores)} of ${machine.cores} cores meanwhile`);
  const goals: Goal[] = [
    { name: 'p99 of hostile questions', value: random.wall.p99Ms, limit: P99_MS_MAX, bound: 'most', unit: 'ms' },
    { name: 'p99 of the worst', value: worst.wall.p99Ms, limit: P99_MS_MAX, bound: 'most', unit: 'ms' },
  ];
  return conclude({
    goals,
    figures: { bench: 'fuzz-ask', machine, rows, seed, random, worst, othersCores },
    jsonFile,
    check,
  });
}
