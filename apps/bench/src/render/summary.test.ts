import { describe, expect, it } from 'vitest';
import type { EngineName } from './engines.js';
import type { RenderMeasurement } from './measure.js';
import { renderToText, toRenderCells } from './summary.js';

const make = (engine: EngineName, round: number, templatesPerSecond: number, shape = 'GET'): RenderMeasurement => ({
  engine,
  shape,
  round,
  templatesPerSecond,
  parseUs: round * 10,
});

const all = [
  ...[make('rowcall', 1, 500), make('mustache', 1, 1_000), make('handlebars', 1, 250)],
  ...[make('handlebars', 2, 25), make('rowcall', 2, 50), make('mustache', 2, 100)],
  make('rowcall', 1, 7, 'POST'),
];

describe('the summary of a render run', () => {
  it('compares within each round, so that a slow round on all sides changes no ratio', () => {
    expect(toRenderCells(all)[0]).toMatchObject({
      shape: 'GET',
      toMustache: { min: 0.5, median: 0.5, max: 0.5 },
      toHandlebars: { min: 2, median: 2, max: 2 },
      templatesPerSecond: { rowcall: { min: 50, median: 275, max: 500 } },
      parseUs: { handlebars: { min: 10, median: 15, max: 20 } },
    });
  });

  it('keeps shapes apart, and shows a dash for what was not measured', () => {
    const text = renderToText(toRenderCells(all));
    expect(text).toMatch(/^GET +275 \(50\.0–500\) +550 \(100–1000\) +138 \(25\.0–250\)$/m);
    expect(text).toMatch(/^POST +7\.00 +- +-$/m);
    expect(text).toMatch(/^POST +- +-$/m);
  });
});
