import { describe, expect, it } from 'vitest';
import { isReached } from '../goals.js';
import { type PropagateFigures, toPropagateGoals } from './summary.js';

const latency = (p99Ms: number) => ({ count: 500, minMs: 1, p50Ms: 2, p99Ms, maxMs: 99 });
const propagation = (p99Ms: number, sentP99Ms = 49) => ({
  sentToServed: latency(sentP99Ms),
  committedToServed: latency(p99Ms),
  committedToHeld: latency(1),
  answeredToServed: latency(1),
  sentToHeld: latency(1),
  answeredToHeld: latency(1),
});
const figures: PropagateFigures = {
  rows: 10_000,
  readyMs: [900, 1_000],
  quiet: propagation(20),
  busy: propagation(30),
  backgroundPerSecond: 50,
  monotone: { reads: 9, writes: 9, wentBack: 0, firstBack: null, lastVersion: 9 },
  othersCores: 0.1,
  memory: [
    { when: 'after the start', aMb: 200, bMb: 210 },
    { when: 'at the end', aMb: 250, bMb: 220 },
  ],
};
const reached = (more: Partial<PropagateFigures>) => toPropagateGoals({ ...figures, ...more }).map(isReached);

describe('goals of a propagate run', () => {
  it('judges the time from the commit, every version, and the greatest memory', () => {
    expect(toPropagateGoals(figures).map(({ value }) => value)).toEqual([20, 30, 0, 250]);
    expect(reached({})).toEqual([true, true, true, true]);
  });

  it('misses the goal that is missed', () => {
    expect(reached({ quiet: propagation(51) })).toEqual([false, true, true, true]);
    expect(reached({ busy: propagation(51) })).toEqual([true, false, true, true]);
    expect(reached({ monotone: { ...figures.monotone, wentBack: 1 } })).toEqual([true, true, false, true]);
    expect(reached({ memory: [{ when: 'x', aMb: 301, bMb: 1 }] })).toEqual([true, true, true, false]);
  });

  it('judges the time from the sending where commit times are not known', () => {
    expect(reached({ quiet: propagation(Number.NaN, 49) })[0]).toBe(true);
    expect(reached({ quiet: propagation(Number.NaN, 51) })[0]).toBe(false);
  });

  it('does not take memory that could not be read for little', () => {
    expect(reached({ memory: [{ when: 'x', aMb: 100, bMb: undefined }] })[3]).toBe(false);
  });
});
