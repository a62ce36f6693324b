import { describe, expect, it } from 'vitest';
import { type Goal, goalsToTable, isReached } from './goals.js';

const most: Goal = { name: 'p99', value: 50, limit: 50, bound: 'most', unit: 'ms' };
const least: Goal = { name: 'ratio', value: 2, limit: 2, bound: 'least', unit: 'x' };

describe('goals', () => {
  it('are reached at their very limit, and missed just beyond it', () => {
    expect([most, least].map(isReached)).toEqual([true, true]);
    expect(
      [
        { ...most, value: 50.01 },
        { ...least, value: 1.99 },
      ].map(isReached),
    ).toEqual([false, false]);
  });

  it('are missed when nothing was measured', () => {
    const nothing = [undefined, Number.NaN];
    expect(nothing.flatMap((value) => [isReached({ ...most, value }), isReached({ ...least, value })])).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });

  it('say beside each figure whether it passed', () => {
    const goals = [most, { ...least, value: 1 }, { ...least, value: undefined }];
    expect(goalsToTable(goals)).toMatch(/p99 .* pass\nratio .* FAIL\nratio .* not measured$/);
  });
});
