import { describe, expect, it } from 'vitest';
import { toArrivals } from './pace.js';

const arrivals = [...toArrivals(200, 60_000)];
const gaps = arrivals.map((at, index) => at - (arrivals[index - 1] ?? 0));

describe('arrivals', () => {
  it('come at the rate, in order, within the time', () => {
    expect(arrivals.length / 60).toBeGreaterThan(190);
    expect(arrivals.length / 60).toBeLessThan(210);
    expect(Math.min(...gaps)).toBeGreaterThan(0);
    expect(arrivals.at(-1)).toBeLessThan(60_000);
  });

  it('come by chance: as many gaps are beyond the mean as for an exponential distribution', () => {
    const beyond = gaps.filter((gap) => gap > 5).length / gaps.length;
    expect(beyond).toBeCloseTo(Math.exp(-1), 1);
  });

  it('are the same each time, so that two modes are asked alike', () => {
    expect([...toArrivals(200, 60_000)]).toEqual(arrivals);
  });
});
