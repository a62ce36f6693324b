import { describe, expect, it } from 'vitest';
import { isReached } from '../goals.js';
import { scoreRanking, summarise } from './metrics.js';
import { retrievalToText, type SystemFigures, toRetrievalGoals } from './summary.js';

const scores = [scoreRanking(['a'], new Set(['a'])), scoreRanking(['b', 'a'], new Set(['a']))];
const figures: SystemFigures = {
  system: 'rowcall',
  sets: summarise(scores.map((one) => ({ set: 'dev', scores: one }))),
  abstaining: undefined,
  latency: { count: 2, minMs: 1, p50Ms: 1, p99Ms: 2, maxMs: 2 },
  cpu: { count: 2, minMs: 1, p50Ms: 1, p99Ms: 2, maxMs: 2 },
  buildMs: 10,
  memoryMb: 3,
};
const curve = Array.from({ length: 101 }, (_, index) => ({
  threshold: index / 100,
  falseAbstain: index / 200,
  trueAbstain: index / 100,
}));
const abstaining = { answerable: 3, unanswerable: 2, area: 0.85, curve, falseAbstain: 0.06, trueAbstain: 0.5 };

describe('the figures of a retrieval run', () => {
  it('are judged by the means of the product over all questions', () => {
    expect(toRetrievalGoals([figures])).toMatchObject([
      { name: 'micro nDCG@10', value: expect.closeTo(0.8155, 4), limit: 0.625, bound: 'least' },
      { name: 'micro R@12', value: 1, limit: 0.72, bound: 'least' },
    ]);
    expect(toRetrievalGoals([{ ...figures, system: 'minisearch' }])).toEqual([]);
  });

  it('are judged by how well confidence knows, where tools were taken away', () => {
    const goals = toRetrievalGoals([{ ...figures, sets: [], abstaining }]);
    expect(goals.map((goal) => [goal.value, isReached(goal)])).toEqual([
      [0.85, true],
      [0.06, false],
    ]);
  });

  it('are shown as tables', () => {
    expect(retrievalToText([figures])).toMatch(
      /rowcall +\(micro\) +0\.5000 +1\.0000 +1\.0000 +0\.7500 +0\.8155 +1\.0000 +2/,
    );
    const text = retrievalToText([{ ...figures, sets: [], abstaining }]);
    expect(text).toMatch(/0\.05 +0\.0250 +0\.0500/);
    expect(text).not.toMatch(/^0\.01/m);
  });
});
