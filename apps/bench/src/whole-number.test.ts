import { describe, expect, it } from 'vitest';
import { toWholeNumber } from './whole-number.js';

const bounds = { min: 0, max: 10 };

describe('the number of an option', () => {
  it('may be either of its bounds', () => {
    expect(['0', '10'].map((text) => toWholeNumber('rate', text, bounds))).toEqual([0, 10]);
  });

  it.each(['-1', '11', '1.5', 'x', '', ' '])('is not %j, and the refusal names the option', (text) => {
    expect(() => toWholeNumber('rate', text, bounds)).toThrow(`--rate ${text}: give whole numbers from 0 to 10`);
  });
});
