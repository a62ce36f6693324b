import type { Goal } from '../goals.js';
import type { Measurement } from '../load/measure.js';
import { type Spread, toSpread } from '../statistics.js';
import { spreadToText, toTable } from '../table.js';
import type { ModeName } from './modes.js';

/** All rounds of one mode at one number of connections. */
export interface Cell {
  readonly mode: ModeName;
  readonly connections: number;
  readonly perSecond: Spread;
  readonly p50Ms: Spread;
  readonly p99Ms: Spread;
  readonly serverCpuMs: Spread;
  readonly postgresCpuMs: Spread;
  readonly generatorCpuMs: Spread;
}

/** How the API's rate compares, round by round: what the machine did in between touches both sides of a ratio. */
export interface Ratio {
  readonly connections: number;
  /** To the framework alone. */
  readonly toBare: Spread;
  /** To one insert per request. */
  readonly toInsert: Spread;
  /** p50 of the API minus p50 of the insert per request, in ms. */
  readonly p50OverInsertMs: Spread;
}

const select = (all: readonly Measurement<ModeName>[], mode: ModeName, connections: number): Measurement<ModeName>[] =>
  all.filter((one) => one.mode === mode && one.connections === connections);

/** Sums the rounds up, in the order of the measurements. */
export function toCells(all: readonly Measurement<ModeName>[]): Cell[] {
  const names = new Map(all.map((one) => [`${one.connections} ${one.mode}`, one]));
  return [...names.values()].map(({ mode, connections }) => {
    const rounds = select(all, mode, connections);
    const spread = (read: (one: Measurement<ModeName>) => number | undefined) =>
      toSpread(rounds.map((one) => read(one) ?? Number.NaN));
    return {
      mode,
      connections,
      perSecond: spread(({ perSecond }) => perSecond),
      p50Ms: spread(({ latency }) => latency.p50Ms),
      p99Ms: spread(({ latency }) => latency.p99Ms),
      serverCpuMs: spread(({ serverCpuMs }) => serverCpuMs),
      postgresCpuMs: spread(({ postgresCpuMs }) => postgresCpuMs),
      generatorCpuMs: spread(({ generatorCpuMs }) => generatorCpuMs),
    };
  });
}

/** Compares the modes within each round. Spreads of what was not measured are NaN. */
export function toRatios(all: readonly Measurement<ModeName>[]): Ratio[] {
  const counts = [...new Set(all.map(({ connections }) => connections))];
  return counts.map((connections) => {
    const compare = (other: ModeName, join: (api: Measurement<ModeName>, than: Measurement<ModeName>) => number) => {
      const others = new Map(select(all, other, connections).map((one) => [one.round, one]));
      const rounds = select(all, 'dispatch', connections);
      return toSpread(
        rounds.flatMap((api) => {
          const than = others.get(api.round);
          return than === undefined ? [] : [join(api, than)];
        }),
      );
    };
    return {
      connections,
      toBare: compare('bare', (api, than) => api.perSecond / than.perSecond),
      toInsert: compare('insert', (api, than) => api.perSecond / than.perSecond),
      p50OverInsertMs: compare('insert', (api, than) => api.latency.p50Ms - than.latency.p50Ms),
    };
  });
}

const CONNECTIONS_LOADED = 64;
const CONNECTIONS_ALONE = 1;

/** The figures that the API has to reach, for what was measured of them. */
export function toGoals(cells: readonly Cell[], ratios: readonly Ratio[]): Goal[] {
  const loaded = ratios.find(({ connections }) => connections === CONNECTIONS_LOADED);
  const alone = ratios.find(({ connections }) => connections === CONNECTIONS_ALONE);
  const cell = cells.find(({ mode, connections }) => mode === 'dispatch' && connections === CONNECTIONS_LOADED);
  return [
    { name: 'rate c/b at 64 connections', value: loaded?.toInsert.median, limit: 2, bound: 'least', unit: 'x' },
    { name: 'API CPU per call at 64', value: cell?.serverCpuMs.median, limit: 0.35, bound: 'most', unit: 'ms' },
    { name: 'p50 c − b alone', value: alone?.p50OverInsertMs.median, limit: 1, bound: 'most', unit: 'ms' },
  ];
}

/** The figures as tables: median, and in brackets the least and greatest of the rounds. */
export function summaryToText(cells: readonly Cell[], ratios: readonly Ratio[]): string {
  const figures = toTable(
    ['conns mode', 'requests/s', 'p50 ms', 'p99 ms', 'server CPU ms', 'postgres CPU ms', 'generator CPU ms'],
    cells.map((cell) => [
      `${String(cell.connections).padStart(5)} ${cell.mode}`,
      spreadToText(cell.perSecond),
      spreadToText(cell.p50Ms),
      spreadToText(cell.p99Ms),
      spreadToText(cell.serverCpuMs),
      spreadToText(cell.postgresCpuMs),
      spreadToText(cell.generatorCpuMs),
    ]),
  );
  const comparison = toTable(
    ['conns', 'rate c/a', 'rate c/b', 'p50 c − b ms'],
    ratios.map(({ connections, toBare, toInsert, p50OverInsertMs }) => [
      String(connections).padStart(5),
      spreadToText(toBare),
      spreadToText(toInsert),
      spreadToText(p50OverInsertMs),
    ]),
  );
  return `${figures}\n\n${comparison}`;
}
