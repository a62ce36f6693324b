import { describe, expect, it } from 'vitest';
import { isReached } from '../goals.js';
import type { Latency } from '../statistics.js';
import { type AskFigures, askToText, toAskGoals } from './summary.js';

const latency = (p99Ms: number): Latency => ({ count: 100, minMs: 0.1, p50Ms: 0.2, p99Ms, maxMs: 50 });
const toFigures = (rows: number, searchMs: number, engineMs?: number): AskFigures => ({
  rows,
  engine: { search: latency(searchMs), searchCpu: latency(0.9), fixedWork: latency(0.3) },
  http: [
    {
      connections: 1,
      ask: { latency: latency(40), engine: engineMs === undefined ? undefined : latency(engineMs), perSecond: 300 },
      livez: { latency: latency(1), engine: undefined, perSecond: 900 },
    },
  ],
  changesPerSecond: 50,
  apiMb: 200,
  readyMs: 5_000,
  othersCores: 0.5,
});

describe('the figures of an ask run', () => {
  it('are judged by the engine alone: by what the server says of it, else by the search of the bench', () => {
    const goals = toAskGoals([toFigures(1_000, 1.5), toFigures(10_000, 4, 6), toFigures(100_000, 40, 29)]);
    expect(goals.map((goal) => [goal.name, goal.value, goal.limit, isReached(goal)])).toEqual([
      ['engine p99 at 1000 rows', 1.5, 2, true],
      ['engine p99 at 10000 rows', 6, 5, false],
      ['engine p99 at 100000 rows', 29, 30, true],
    ]);
  });

  it('are not judged at sizes that have no limit', () => {
    expect(toAskGoals([toFigures(500, 99)])).toEqual([]);
  });

  it('are shown with what the machine does beside them', () => {
    const text = askToText([toFigures(1_000, 1.5, 1.2)]);
    expect(text).toMatch(/fixed work beside it +0\.200 +0\.300 +50\.0/);
    expect(text).toMatch(/CPU time of it +0\.200 +0\.900 +50\.0/);
    expect(text).toMatch(/of it the engine +0\.200 +1\.20 +50\.0/);
    expect(text).toContain('other processes took 0.500 cores');
  });
});
