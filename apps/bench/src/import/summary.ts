import type { Goal } from '../goals.js';
import type { MemoryUse } from '../memory-watch.js';
import { type Spread, toSpread } from '../statistics.js';
import { spreadToText, toTable } from '../table.js';

/** What one API process took, and when it had all rows. */
export interface ProcessFigures extends MemoryUse {
  /** The most since its start, as the kernel keeps it; undefined where it does not. */
  readonly kernelPeakMb: number | undefined;
  /** CPU time until it had all rows, in ms; undefined where it cannot be read. */
  readonly cpuMs: number | undefined;
  /** From the answer of the import until the process served all rows, in ms. */
  readonly answeredToServedMs: number;
  /** From the last commit; NaN where the server does not keep commit times. */
  readonly committedToServedMs: number;
}

/** One import. */
export interface ImportRound {
  readonly elapsedMs: number;
  readonly bytes: number;
  /** The process that imports. */
  readonly a: ProcessFigures;
  /** The process that is told of it. */
  readonly b: ProcessFigures;
  /** CPU time of all Postgres processes, in ms; undefined for a server that was given. */
  readonly postgresCpuMs: number | undefined;
  /** Cores that other processes of the machine took meanwhile; undefined where it cannot be told. */
  readonly othersCores: number | undefined;
}

/** All figures of a run. */
export interface ImportFigures {
  readonly rows: number;
  readonly rounds: readonly ImportRound[];
}

const MEMORY_MB_MAX = 500;
const SERVED_MS_MAX = 5_000;

const spread = (rounds: readonly ImportRound[], read: (round: ImportRound) => number | undefined): Spread =>
  toSpread(rounds.map((round) => read(round) ?? Number.NaN));

/** The greatest of the rounds; NaN when one could not be measured. */
const greatest = (rounds: readonly ImportRound[], read: (round: ImportRound) => number): number =>
  Math.max(...rounds.map(read));

/** The latest moment counts: from the last commit where it is known, which is earlier than the answer. */
const toServedMs = ({ committedToServedMs, answeredToServedMs }: ProcessFigures): number =>
  Number.isNaN(committedToServedMs) ? answeredToServedMs : committedToServedMs;

/** The figures that have to be reached, in the worst round. */
export function toImportGoals({ rows, rounds }: ImportFigures): Goal[] {
  const served = { limit: SERVED_MS_MAX, bound: 'most', unit: 'ms' } as const;
  const peakMb = greatest(rounds, ({ a }) => a.peakMb);
  return [
    { name: `peak memory of A, ${rows} rows`, value: peakMb, limit: MEMORY_MB_MAX, bound: 'most', unit: 'MB' },
    { name: 'last commit → all served by A', value: greatest(rounds, ({ a }) => toServedMs(a)), ...served },
    { name: 'last commit → all served by B', value: greatest(rounds, ({ b }) => toServedMs(b)), ...served },
  ];
}

const PROCESS_LINES: readonly (readonly [string, (process: ProcessFigures) => number | undefined])[] = [
  ['resident before, MB', ({ beforeMb }) => beforeMb],
  ['resident at the peak, MB', ({ peakMb }) => peakMb],
  ['resident when all were served, MB', ({ afterMb }) => afterMb],
  ['peak since the start by the kernel, MB', ({ kernelPeakMb }) => kernelPeakMb],
  ['CPU until all were served, ms', ({ cpuMs }) => cpuMs],
  ['answer → all served, ms', ({ answeredToServedMs }) => answeredToServedMs],
  ['last commit → all served, ms', ({ committedToServedMs }) => committedToServedMs],
];

/** The figures as tables. */
export function importToText({ rows, rounds }: ImportFigures): string {
  const of = (read: (round: ImportRound) => number | undefined) => spreadToText(spread(rounds, read));
  const whole = toTable(
    ['import', ''],
    [
      ['rows', String(rows)],
      ['bytes of a line', of(({ bytes }) => bytes / rows)],
      ['seconds', of(({ elapsedMs }) => elapsedMs / 1_000)],
      ['rows/s', of(({ elapsedMs }) => (rows * 1_000) / elapsedMs)],
      ['API A, CPU ms a row', of(({ a }) => (a.cpuMs ?? Number.NaN) / rows)],
      ['API B, CPU ms a row', of(({ b }) => (b.cpuMs ?? Number.NaN) / rows)],
      ['postgres, CPU ms a row', of(({ postgresCpuMs }) => (postgresCpuMs ?? Number.NaN) / rows)],
    ],
  );
  const processes = toTable(
    ['process', 'A', 'B'],
    PROCESS_LINES.map(([name, read]) => [name, of(({ a }) => read(a)), of(({ b }) => read(b))]),
  );
  return `${whole}\n\n${processes}\n\nother processes took ${of(({ othersCores }) => othersCores)} cores meanwhile`;
}
