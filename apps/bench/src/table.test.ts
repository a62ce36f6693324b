import { describe, expect, it } from 'vitest';
import { toNumber, toTable } from './table.js';

describe('table', () => {
  it('sets the first column left and numbers right', () => {
    expect(
      toTable(
        ['mode', 'req/s'],
        [
          ['a', '12000'],
          ['bare', '7'],
        ],
      ),
    ).toBe(['mode  req/s', '----  -----', 'a     12000', 'bare      7'].join('\n'));
  });

  it('keeps three digits of small numbers and none behind the point of great ones', () => {
    expect([12_345.6, 45.67, 4.567, 0.04567].map(toNumber)).toEqual(['12346', '45.7', '4.57', '0.046']);
  });

  it('shows a dash for what was not measured', () => {
    expect([undefined, Number.NaN].map(toNumber)).toEqual(['-', '-']);
  });
});
