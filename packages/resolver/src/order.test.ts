import { describe, expect, it } from 'vitest';
import { stepsByScore } from './order.js';

describe('stepsByScore', () => {
  it('puts better documents first, to a thousandth of the best score', () => {
    const scores = Float64Array.from({ length: 5_000 }, (_, index) => ((index * 7_919) % 5_000) / 10);
    const documents = Int32Array.from(scores.keys());
    const ordered = stepsByScore(documents, documents.length, scores).flatMap((step) => [...step]);
    expect(new Set(ordered).size).toBe(5_000);
    for (const [place, document] of ordered.entries()) {
      const next = scores[ordered[place + 1] ?? document] ?? 0;
      expect(next).toBeLessThanOrEqual((scores[document] ?? 0) + 0.5);
    }
    expect(scores[ordered[0] ?? 0]).toBeGreaterThan(499);
  });

  it('keeps documents without a score, and nothing beyond the count', () => {
    const steps = stepsByScore(Int32Array.of(3, 1, 2, 9), 3, new Float64Array(10));
    expect(steps.map((step) => [...step].sort())).toEqual([[1, 2, 3]]);
  });
});
