import { type Spread, toSpread } from '../statistics.js';
import { spreadToText, toTable } from '../table.js';
import { ENGINE_NAMES, type EngineName } from './engines.js';
import type { RenderMeasurement } from './measure.js';

type PerEngine = Readonly<Record<EngineName, Spread>>;

/** All rounds of one shape. */
export interface RenderCell {
  readonly shape: string;
  readonly templatesPerSecond: PerEngine;
  readonly parseUs: PerEngine;
  /** How our rate compares, round by round. */
  readonly toMustache: Spread;
  readonly toHandlebars: Spread;
}

/** Sums the rounds up, in the order of the shapes. */
export function toRenderCells(all: readonly RenderMeasurement[]): RenderCell[] {
  const shapes = [...new Set(all.map(({ shape }) => shape))];
  return shapes.map((shape) => {
    const of = (engine: EngineName) => all.filter((one) => one.shape === shape && one.engine === engine);
    const perEngine = (read: (one: RenderMeasurement) => number) =>
      Object.fromEntries(ENGINE_NAMES.map((engine) => [engine, toSpread(of(engine).map(read))])) as PerEngine;
    const compare = (other: EngineName) => {
      const rates = new Map(of(other).map(({ round, templatesPerSecond }) => [round, templatesPerSecond]));
      return toSpread(
        of('rowcall').map(({ round, templatesPerSecond }) => templatesPerSecond / (rates.get(round) ?? Number.NaN)),
      );
    };
    return {
      shape,
      templatesPerSecond: perEngine(({ templatesPerSecond }) => templatesPerSecond),
      parseUs: perEngine(({ parseUs }) => parseUs),
      toMustache: compare('mustache'),
      toHandlebars: compare('handlebars'),
    };
  });
}

const toEngineTable = (title: string, cells: readonly RenderCell[], read: (cell: RenderCell) => PerEngine): string =>
  toTable(
    [title, ...ENGINE_NAMES],
    cells.map((cell) => [cell.shape, ...ENGINE_NAMES.map((engine) => spreadToText(read(cell)[engine]))]),
  );

/** The figures as tables: median, and in brackets the least and greatest of the rounds. */
export function renderToText(cells: readonly RenderCell[]): string {
  const ratios = toTable(
    ['rate of rowcall to', 'mustache', 'handlebars'],
    cells.map(({ shape, toMustache, toHandlebars }) => [shape, ...[toMustache, toHandlebars].map(spreadToText)]),
  );
  return [
    toEngineTable('templates/s', cells, ({ templatesPerSecond }) => templatesPerSecond),
    ratios,
    toEngineTable('parse and first rendering, µs', cells, ({ parseUs }) => parseUs),
  ].join('\n\n');
}
