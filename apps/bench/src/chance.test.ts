import { describe, expect, it } from 'vitest';
import { newChance, shuffle } from './chance.js';

describe('chance', () => {
  it('is the same for the same seed, and another for another', () => {
    const draw = (seed: number) => Array.from({ length: 5 }, newChance(seed));
    expect(draw(1)).toEqual(draw(1));
    expect(draw(1)).not.toEqual(draw(2));
    expect(draw(3).every((value) => value >= 0 && value < 1)).toBe(true);
  });

  it('puts all items in another order', () => {
    const items = Array.from({ length: 50 }, (_, index) => index);
    const shuffled = shuffle(items, newChance(1));
    expect(shuffled).not.toEqual(items);
    expect([...shuffled].sort((a, b) => a - b)).toEqual(items);
  });
});
