import type { Goal } from '../goals.js';
import type { Measurement } from '../load/measure.js';
import { type Spread, toSpread } from '../statistics.js';
import { spreadToText, toTable } from '../table.js';
import type { ModeName } from './modes.js';
import { GOAL_CONNECTIONS } from './options.js';

/** How calls come: each connection one after the other, or by a pace. */
export interface Load {
  readonly connections: number;
  readonly ratePerSecond: number | undefined;
}

/** All rounds of one mode under one load. */
export interface Cell extends Load {
  readonly mode: ModeName;
  readonly perSecond: Spread;
  readonly p50Ms: Spread;
  readonly p99Ms: Spread;
  /** CPU time of the process that is called: of the API, of the comparison, or of the upstream. */
  readonly serverCpuMs: Spread;
  readonly postgresCpuMs: Spread;
  readonly callerCpuMs: Spread;
  readonly lateP99Ms: Spread;
}

/** What the row adds under one load, compared within each round. */
export interface Added extends Load {
  readonly p50Ms: Spread;
  readonly p99Ms: Spread;
  /** p50 of a request that a framework answers after one durable insert: what a receipt takes whoever writes it. */
  readonly floorMs: Spread;
  /** What was added at the p50 above that. */
  readonly overFloorMs: Spread;
  /** By how much the p50 of two measurements of the same thing, without the row, differed: what the machine makes of it. */
  readonly noiseMs: Spread;
  /** Calls through the row for one without. */
  readonly rate: Spread;
}

const MODE_NAMES = ['direct', 'again', 'insert', 'dispatch'] as const satisfies readonly ModeName[];

const isUnder = (load: Load, one: Load): boolean =>
  one.connections === load.connections && one.ratePerSecond === load.ratePerSecond;

/** Sums the rounds up, in the order of the loads. */
export function toCells(all: readonly Measurement<ModeName>[], loads: readonly Load[]): Cell[] {
  return loads.flatMap((load) =>
    MODE_NAMES.map((mode) => {
      const rounds = all.filter((one) => one.mode === mode && isUnder(load, one));
      const spread = (read: (one: Measurement<ModeName>) => number | undefined) =>
        toSpread(rounds.map((one) => read(one) ?? Number.NaN));
      return {
        ...load,
        mode,
        perSecond: spread(({ perSecond }) => perSecond),
        p50Ms: spread(({ latency }) => latency.p50Ms),
        p99Ms: spread(({ latency }) => latency.p99Ms),
        serverCpuMs: spread(({ serverCpuMs }) => serverCpuMs),
        postgresCpuMs: spread(({ postgresCpuMs }) => postgresCpuMs),
        callerCpuMs: spread(({ generatorCpuMs }) => generatorCpuMs),
        lateP99Ms: spread(({ lateP99Ms }) => lateP99Ms),
      };
    }),
  );
}

/** Compares the ways within each round. */
export function toAdded(all: readonly Measurement<ModeName>[], loads: readonly Load[]): Added[] {
  return loads.map((load) => {
    const under = all.filter((one) => isUnder(load, one));
    const rounds = under.filter(({ mode }) => mode === 'direct').map(({ round }) => round);
    const spread = (compare: (of: (mode: ModeName) => Figures) => number) =>
      toSpread(rounds.map((round) => compare((mode) => toFigures(under, mode, round))));
    return {
      ...load,
      p50Ms: spread((of) => of('dispatch').p50Ms - of('direct').p50Ms),
      p99Ms: spread((of) => of('dispatch').p99Ms - of('direct').p99Ms),
      floorMs: spread((of) => of('insert').p50Ms),
      overFloorMs: spread((of) => of('dispatch').p50Ms - of('direct').p50Ms - of('insert').p50Ms),
      noiseMs: spread((of) => Math.abs(of('again').p50Ms - of('direct').p50Ms)),
      rate: spread((of) => of('dispatch').perSecond / of('direct').perSecond),
    };
  });
}

interface Figures {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly perSecond: number;
}

const NO_FIGURES: Figures = { p50Ms: Number.NaN, p99Ms: Number.NaN, perSecond: Number.NaN };

function toFigures(all: readonly Measurement<ModeName>[], mode: ModeName, round: number): Figures {
  const found = all.find((one) => one.mode === mode && one.round === round);
  return found === undefined ? NO_FIGURES : { ...found.latency, perSecond: found.perSecond };
}

const ADDED_MS_MAX = 1;

/** The figures that have to be reached, for what was measured of them. */
export function toHttpGoals(added: readonly Added[], ratePerSecond: number | undefined): Goal[] {
  const at = (rate: number | undefined) =>
    added.find((one) => isUnder(one, { connections: GOAL_CONNECTIONS, ratePerSecond: rate }))?.p50Ms.median;
  const most = { limit: ADDED_MS_MAX, bound: 'most', unit: 'ms' } as const;
  const paced = ratePerSecond === undefined ? undefined : at(ratePerSecond);
  return [
    { name: `added p50, closed loop of ${GOAL_CONNECTIONS}`, value: at(undefined), ...most },
    { name: `added p50, by a pace over ${GOAL_CONNECTIONS}`, value: paced, ...most },
  ];
}

const toName = ({ connections, ratePerSecond }: Load): string =>
  `${String(connections).padStart(3)} ${ratePerSecond === undefined ? 'closed loop' : `by a pace, ${ratePerSecond}/s`}`;

/** The figures as tables: median, and in brackets the least and greatest of the rounds. */
export function httpToText(cells: readonly Cell[], added: readonly Added[]): string {
  const figures = toTable(
    [
      'conns load, mode',
      'calls/s',
      'p50 ms',
      'p99 ms',
      'server CPU ms',
      'postgres CPU ms',
      'caller CPU ms',
      'late p99 ms',
    ],
    cells.map((cell) => [
      `${toName(cell)}, ${cell.mode}`,
      spreadToText(cell.perSecond),
      spreadToText(cell.p50Ms),
      spreadToText(cell.p99Ms),
      spreadToText(cell.serverCpuMs),
      spreadToText(cell.postgresCpuMs),
      spreadToText(cell.callerCpuMs),
      spreadToText(cell.lateP99Ms),
    ]),
  );
  const comparison = toTable(
    ['conns load', 'added p50 ms', 'floor', 'over floor', 'noise', 'added p99 ms', 'rate c/a'],
    added.map((one) => [
      toName(one),
      ...[one.p50Ms, one.floorMs, one.overFloorMs, one.noiseMs, one.p99Ms, one.rate].map(spreadToText),
    ]),
  );
  const meaning = [
    'CPU is per call; the server is the upstream for direct and again, the API for dispatch.',
    'Added: p50 (p99) of dispatch minus that of direct, within a round. Floor: the p50 of insert, which a receipt takes',
    'whoever writes it; over floor: added minus floor. Noise: by how much the p50 of direct and again differ.',
    'A closed loop of many connections keeps all cores busy: its latency is connections / rate, not what one caller waits.',
    'By a pace, time counts from when a call left the caller, a wait for a connection included; late: how long after',
    'its time it left, for want of a turn of the caller. Calls/s below the pace: it was not kept.',
  ].join('\n');
  return `${figures}\n\n${comparison}\n\n${meaning}`;
}
