import { describe, expect, it } from 'vitest';
import { toMemoryUse } from './memory-watch.js';

describe('memory that was watched', () => {
  it('has its peak wherever it was', () => {
    expect(toMemoryUse([90, 480, 300])).toEqual({ beforeMb: 90, peakMb: 480, afterMb: 300 });
  });

  it('is not little when one reading failed, or all did', () => {
    expect(toMemoryUse([90, Number.NaN, 300]).peakMb).toBeNaN();
    expect(toMemoryUse([]).peakMb).toBeNaN();
  });
});
