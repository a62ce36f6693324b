import { describe, expect, it } from 'vitest';
import { parseHttpOptions } from './options.js';

describe('options of an http run', () => {
  it('measures closed loops and a pace, without a check, when nothing is said', () => {
    expect(parseHttpOptions([])).toMatchObject({
      connections: [1, 16, 64],
      ratePerSecond: 200,
      rounds: 3,
      durationMs: 5_000,
      check: false,
    });
  });

  it('takes a rate of none', () => {
    expect(parseHttpOptions(['--rate', '0']).ratePerSecond).toBeUndefined();
  });

  it.each([
    [['--connections', '16,0'], /--connections 0/],
    [['--rate', '-1'], /--rate/],
    [['--rate', '10001'], /--rate 10001/],
    [['--seconds', '0.5'], /--seconds 0.5/],
    [['--modes', 'direct'], /--modes/],
  ])('refuses %j and names it', (args, message) => {
    expect(() => parseHttpOptions(args)).toThrow(message);
  });
});
