import { describe, expect, it } from 'vitest';
import { quantile, toLatency, toSpread } from './statistics.js';

describe('statistics', () => {
  it('takes the 99th of a hundred values as p99, and the last as the greatest', () => {
    const values = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect(toLatency(values)).toEqual({ count: 100, minMs: 1, p50Ms: 50, p99Ms: 99, maxMs: 100 });
  });

  it('takes the only value for every quantile', () => {
    expect([0, 0.5, 0.99, 1].map((share) => quantile([7], share))).toEqual([7, 7, 7, 7]);
  });

  it('sorts by number, not by text', () => {
    expect(toSpread([10, 9, 100])).toEqual({ min: 9, median: 10, max: 100 });
  });

  it('takes the mean of the middle two for an even count', () => {
    expect(toSpread([4, 1, 2, 3]).median).toBe(2.5);
  });

  it('has no number for nothing measured', () => {
    expect(toSpread([]).median).toBeNaN();
    expect(toLatency([]).p99Ms).toBeNaN();
  });
});
