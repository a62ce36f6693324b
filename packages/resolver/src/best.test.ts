import { describe, expect, it } from 'vitest';
import { Best } from './best.js';

const keep = (limit: number, items: readonly number[]): number[] => {
  const best = new Best<number>(limit, (a, b) => a - b);
  for (const item of items) best.add(item);
  return best.items;
};

describe('Best', () => {
  it.each([
    [3, [5, 1, 4, 2, 3], [1, 2, 3]],
    [3, [2, 1], [1, 2]],
    [1, [2, 1, 3], [1]],
    [0, [1], []],
    [3, [], []],
  ])('keeps the first %i of %j in order', (limit, items, kept) => {
    expect(keep(limit, items)).toEqual(kept);
  });

  it('tells what it would keep', () => {
    const best = new Best<number>(2, (a, b) => a - b);
    for (const item of [1, 3]) best.add(item);
    expect([0, 2, 3, 4].map((item) => best.wants(item))).toEqual([true, true, false, false]);
  });
});
