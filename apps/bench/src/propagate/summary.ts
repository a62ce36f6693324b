import type { Goal } from '../goals.js';
import type { Latency } from '../statistics.js';
import { toNumber, toTable } from '../table.js';
import type { Propagation } from './changes.js';
import type { MonotoneReads } from './monotone.js';

/** Resident memory of the two API processes at one moment, in MB (10^6 bytes); undefined where it cannot be read. */
export interface MemoryReading {
  readonly when: string;
  readonly aMb: number | undefined;
  readonly bMb: number | undefined;
}

/** All figures of a run. */
export interface PropagateFigures {
  readonly rows: number;
  /** How long the API processes took to start with these rows, in ms. */
  readonly readyMs: readonly number[];
  readonly quiet: Propagation;
  readonly busy: Propagation;
  /** Background changes per second that were really made during `busy`. */
  readonly backgroundPerSecond: number;
  readonly monotone: MonotoneReads;
  readonly memory: readonly MemoryReading[];
  /** Cores that other processes of the machine took meanwhile; undefined where it cannot be told. */
  readonly othersCores: number | undefined;
}

const PROPAGATION_MS_MAX = 50;
const MEMORY_MB_MAX = 300;

/** From the commit, or, where its time is not known, from the moment the PUT was sent, which is harder to reach. */
function toP99({ committedToServed, sentToServed }: Propagation): number {
  return Number.isNaN(committedToServed.p99Ms) ? sentToServed.p99Ms : committedToServed.p99Ms;
}

/** The figures that have to be reached. */
export function toPropagateGoals({ rows, quiet, busy, monotone, memory }: PropagateFigures): Goal[] {
  const readings = memory.flatMap(({ aMb, bMb }) => [aMb, bMb]);
  const memoryMb = Math.max(...readings.map((reading) => reading ?? Number.NaN));
  const most = { bound: 'most', limit: PROPAGATION_MS_MAX, unit: 'ms' } as const;
  return [
    { name: 'p99 of commit → served by B', value: toP99(quiet), ...most },
    { name: 'the same with other changes', value: toP99(busy), ...most },
    { name: 'reads of an older version', value: monotone.wentBack, limit: 0, bound: 'most', unit: 'reads' },
    { name: `API memory with ${rows} rows`, value: memoryMb, limit: MEMORY_MB_MAX, bound: 'most', unit: 'MB' },
  ];
}

const toRow = (name: string, { count, minMs, p50Ms, p99Ms, maxMs }: Latency): string[] => [
  name,
  String(count),
  ...[minMs, p50Ms, p99Ms, maxMs].map(toNumber),
];

const toRows = (name: string, propagation: Propagation): string[][] => [
  toRow(`${name}: PUT sent → served by B`, propagation.sentToServed),
  toRow(`${name}: commit → served by B`, propagation.committedToServed),
  toRow(`${name}: PUT answered → served by B`, propagation.answeredToServed),
  toRow(`${name}: PUT sent → held in a third process`, propagation.sentToHeld),
  toRow(`${name}: commit → held in a third process`, propagation.committedToHeld),
  toRow(`${name}: PUT answered → held in a third process`, propagation.answeredToHeld),
];

/** The figures as tables. */
export function propagateToText(figures: PropagateFigures): string {
  const { quiet, busy, backgroundPerSecond, monotone, memory } = figures;
  const other = `with ${backgroundPerSecond.toFixed(0)} other changes/s`;
  const latencies = toTable(
    ['row changed in A, seen elsewhere', 'changes', 'min ms', 'p50 ms', 'p99 ms', 'max ms'],
    [...toRows('quiet', quiet), ...toRows(other, busy)],
  );
  const memories = toTable(
    ['resident memory, MB', 'A', 'B'],
    memory.map(({ when, aMb, bMb }) => [when, toNumber(aMb), toNumber(bMb)]),
  );
  const { reads, writes, wentBack, firstBack } = monotone;
  const backText = firstBack === null ? '' : ` (${firstBack})`;
  const reading = `one row, ${writes} changes, ${reads} reads at B through a lost connection: ${wentBack} went back${backText}`;
  const starts = `${figures.rows} rows: the API processes could answer after ${figures.readyMs.map(toNumber).join(' and ')} ms`;
  const others = `other processes took ${toNumber(figures.othersCores)} cores meanwhile`;
  return [latencies, reading, memories, starts, others].join('\n\n');
}
