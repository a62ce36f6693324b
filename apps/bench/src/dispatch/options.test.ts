import { describe, expect, it } from 'vitest';
import { parseDispatchOptions } from './options.js';

describe('options of a dispatch run', () => {
  it('measures everything, without a check, when nothing is said', () => {
    expect(parseDispatchOptions([])).toMatchObject({
      modes: ['bare', 'insert', 'dispatch'],
      connections: [1, 16, 64],
      rounds: 3,
      durationMs: 5_000,
      check: false,
    });
  });

  it('takes lists and numbers', () => {
    const args = ['--modes', 'dispatch', '--connections', '2,8', '--rounds', '1', '--seconds', '9', '--check'];
    expect(parseDispatchOptions(args)).toMatchObject({
      modes: ['dispatch'],
      connections: [2, 8],
      rounds: 1,
      durationMs: 9_000,
      check: true,
    });
  });

  it.each([
    [['--connections', '0'], /--connections 0/],
    [['--connections', '1,x'], /--connections x/],
    [['--rounds', '1.5'], /--rounds 1.5/],
    [['--modes', 'fast'], /bare, insert, dispatch/],
    [['--fast'], /--fast/],
  ])('refuses %j and names it', (args, message) => {
    expect(() => parseDispatchOptions(args)).toThrow(message);
  });
});
