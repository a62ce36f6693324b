import type { Goal } from '../goals.js';
import type { Measurement } from '../load/measure.js';
import { type Spread, toSpread } from '../statistics.js';
import { spreadToText, toTable } from '../table.js';
import type { Asked } from './ask.js';
import type { Question } from './questions.js';

/** On which ledger calls were made. */
export type LedgerName = 'full' | 'empty';

/** All rounds of one question. */
export interface QuestionCell {
  readonly name: string;
  readonly limitMs: number | undefined;
  readonly p50Ms: Spread;
  readonly p99Ms: Spread;
  readonly maxMs: Spread;
  /** CPU time of the API process per answer. */
  readonly serverCpuMs: Spread;
  /** The same of Postgres. */
  readonly postgresCpuMs: Spread;
}

/** Calls on both ledgers at one number of connections. */
export interface CallCell {
  readonly connections: number;
  readonly fullPerSecond: Spread;
  readonly emptyPerSecond: Spread;
  /** Round by round. */
  readonly ratio: Spread;
  readonly fullPostgresCpuMs: Spread;
  readonly emptyPostgresCpuMs: Spread;
}

/** Share of the calls per second on an empty ledger that a full one has to reach. */
const RATIO_MIN = 0.9;

/** Sums the rounds up, in the order of the questions. */
export function toQuestionCells(questions: readonly Question[], asked: readonly Asked[]): QuestionCell[] {
  return questions.map(({ name, limitMs }) => {
    const rounds = asked.filter((one) => one.name === name);
    const spread = (read: (one: Asked) => number) => toSpread(rounds.map(read));
    return {
      name,
      limitMs,
      p50Ms: spread(({ latency }) => latency.p50Ms),
      p99Ms: spread(({ latency }) => latency.p99Ms),
      maxMs: spread(({ latency }) => latency.maxMs),
      serverCpuMs: spread(({ serverCpuMs }) => serverCpuMs),
      postgresCpuMs: spread(({ postgresCpuMs }) => postgresCpuMs),
    };
  });
}

/** Compares calls within each round: what the machine did in between touches both sides of a ratio. */
export function toCallCells(all: readonly Measurement<LedgerName>[]): CallCell[] {
  return [...new Set(all.map(({ connections }) => connections))].map((connections) => {
    const select = (ledger: LedgerName) => all.filter((one) => one.mode === ledger && one.connections === connections);
    const [full, empty] = [select('full'), select('empty')];
    const spread = (ones: typeof full, read: (one: Measurement<LedgerName>) => number | undefined) =>
      toSpread(ones.map((one) => read(one) ?? Number.NaN));
    const rates = new Map(empty.map(({ round, perSecond }) => [round, perSecond]));
    return {
      connections,
      fullPerSecond: spread(full, ({ perSecond }) => perSecond),
      emptyPerSecond: spread(empty, ({ perSecond }) => perSecond),
      ratio: spread(full, ({ round, perSecond }) => perSecond / (rates.get(round) ?? Number.NaN)),
      fullPostgresCpuMs: spread(full, ({ postgresCpuMs }) => postgresCpuMs),
      emptyPostgresCpuMs: spread(empty, ({ postgresCpuMs }) => postgresCpuMs),
    };
  });
}

/** What the ledger has to reach. @param sequentialScans of the table of receipts, while it was asked. */
export function toLedgerGoals(
  questions: readonly QuestionCell[],
  calls: readonly CallCell[],
  sequentialScans: number,
): Goal[] {
  return [
    ...questions.flatMap(({ name, p99Ms, limitMs }): Goal[] =>
      limitMs === undefined
        ? []
        : [{ name: `p99 of ${name}`, value: p99Ms.median, limit: limitMs, bound: 'most', unit: 'ms' }],
    ),
    { name: 'scans of the whole table', value: sequentialScans, limit: 0, bound: 'most', unit: '' },
    ...calls.map(
      ({ connections, ratio }): Goal => ({
        name: `calls, full/empty at ${connections} connections`,
        value: ratio.median,
        limit: RATIO_MIN,
        bound: 'least',
        unit: 'x',
      }),
    ),
  ];
}

/** The figures as tables: median, and in brackets the least and greatest of the rounds. */
export function ledgerToText(questions: readonly QuestionCell[], calls: readonly CallCell[]): string {
  const asked = toTable(
    ['question', 'p50 ms', 'p99 ms', 'max ms', 'API CPU ms', 'postgres CPU ms'],
    questions.map(({ name, p50Ms, p99Ms, maxMs, serverCpuMs, postgresCpuMs }) => [
      name,
      ...[p50Ms, p99Ms, maxMs, serverCpuMs, postgresCpuMs].map(spreadToText),
    ]),
  );
  const called = toTable(
    ['conns', 'full/s', 'empty/s', 'full/empty', 'full: postgres CPU ms', 'empty: postgres CPU ms'],
    calls.map((cell) => [
      String(cell.connections).padStart(5),
      ...[cell.fullPerSecond, cell.emptyPerSecond, cell.ratio, cell.fullPostgresCpuMs, cell.emptyPostgresCpuMs].map(
        spreadToText,
      ),
    ]),
  );
  return `${asked}\n\n${called}`;
}
