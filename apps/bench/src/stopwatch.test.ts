import { describe, expect, it } from 'vitest';
import { Stopwatch } from './stopwatch.js';

const spin = (ms: number): number => {
  const until = performance.now() + ms;
  while (performance.now() < until);
  return ms;
};

describe('a stopwatch', () => {
  it('takes the time of each piece of work, and gives its result', () => {
    const watch = new Stopwatch();
    expect([3, 20].map((ms) => watch.time(() => spin(ms)))).toEqual([3, 20]);
    expect(watch.wall).toMatchObject({ count: 2 });
    expect(watch.wall.minMs).toBeGreaterThanOrEqual(3);
    expect(watch.wall.maxMs).toBeGreaterThanOrEqual(20);
  });

  it('does not count waiting as CPU time', () => {
    const watch = new Stopwatch();
    watch.time(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200));
    expect(watch.wall.maxMs).toBeGreaterThan(190);
    expect(watch.cpu.maxMs).toBeLessThan(100);
  });
});
