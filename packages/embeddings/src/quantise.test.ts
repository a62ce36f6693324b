import { expect, it } from 'vitest';
import { quantise } from './quantise.js';

it('a quantised vector points where the vector does, and is as long', () => {
  const numbers = Array.from({ length: 1_024 }, (_, at) => Math.sin(at * at));
  const unit = Float32Array.from(numbers, (number) => number / Math.hypot(...numbers));
  const { vector, scale } = quantise(unit);
  expect(Math.max(...vector.map(Math.abs))).toBe(127);
  const back = Array.from(vector, (step) => step * scale);
  expect(Math.hypot(...back)).toBeCloseTo(1, 3);
  expect(back.reduce((sum, number, at) => sum + number * (unit[at] ?? 0), 0) / Math.hypot(...back)).toBeGreaterThan(
    0.9999,
  );
});
