import type { Goal } from '../goals.js';
import type { Latency } from '../statistics.js';
import { toNumber, toTable } from '../table.js';
import type { Asked } from './asker.js';
import type { EngineFigures } from './engine.js';

/** HTTP at one number of connections. */
export interface HttpFigures {
  readonly connections: number;
  readonly ask: Asked;
  readonly livez: Asked;
}

/** What came of one size of the catalogue. */
export interface AskFigures {
  readonly rows: number;
  /** Search alone, in the bench process, over a catalogue that takes the same changes. */
  readonly engine: EngineFigures;
  readonly http: readonly HttpFigures[];
  readonly changesPerSecond: number;
  /** Resident memory of the API process at the end, in MB; undefined where it cannot be read. */
  readonly apiMb: number | undefined;
  readonly readyMs: number;
  /** Cores that other processes took meanwhile; undefined where it cannot be told. */
  readonly othersCores: number | undefined;
}

/** Engine time, in ms, 99th of a hundred, at one question at a time: by the size of the catalogue. */
const LIMITS = [
  { rows: 1_000, limitMs: 2 },
  { rows: 10_000, limitMs: 5 },
  { rows: 100_000, limitMs: 30 },
] as const;

/** The engine's own figure for one question at a time; the search of the bench process where the server does not say. */
function toEngine({ engine, http }: AskFigures): Latency {
  return http.find(({ connections }) => connections === 1)?.ask.engine ?? engine.search;
}

/** What asking has to reach, for the sizes that have a limit. */
export const toAskGoals = (all: readonly AskFigures[]): Goal[] =>
  LIMITS.flatMap(({ rows, limitMs }): Goal[] => {
    const figures = all.find((one) => one.rows === rows);
    if (figures === undefined) return [];
    const name = `engine p99 at ${rows} rows`;
    return [{ name, value: toEngine(figures).p99Ms, limit: limitMs, bound: 'most', unit: 'ms' }];
  });

const toCells = ({ p50Ms, p99Ms, maxMs }: Latency): string[] => [p50Ms, p99Ms, maxMs].map(toNumber);

function toLines({ rows, engine, http }: AskFigures): string[][] {
  const size = String(rows);
  const overHttp = http.flatMap(({ connections, ask, livez }) => [
    [size, `HTTP ask, ${connections} at once`, ...toCells(ask.latency), toNumber(ask.perSecond)],
    ...(ask.engine === undefined ? [] : [[size, '  of it the engine', ...toCells(ask.engine)]]),
    [size, `HTTP livez, ${connections} at once`, ...toCells(livez.latency), toNumber(livez.perSecond)],
  ]);
  return [
    [size, 'search in the bench process', ...toCells(engine.search)],
    [size, '  CPU time of it', ...toCells(engine.searchCpu)],
    [size, '  fixed work beside it', ...toCells(engine.fixedWork)],
    ...overHttp,
  ];
}

/** The figures as a table, and what else there is to say of each size. */
export function askToText(all: readonly AskFigures[]): string {
  const table = toTable(['rows', 'what', 'p50 ms', 'p99 ms', 'max ms', 'per second'], all.flatMap(toLines));
  const notes = all.map(
    ({ rows, readyMs, apiMb, changesPerSecond, othersCores }) =>
      `${rows} rows: ready after ${toNumber(readyMs / 1_000)} s, API ${toNumber(apiMb)} MB, ` +
      `${toNumber(changesPerSecond)} changes/s meanwhile; other processes took ${toNumber(othersCores)} cores`,
  );
  return `${table}\n\n${notes.join('\n')}`;
}
