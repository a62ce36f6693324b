import { describe, expect, it } from 'vitest';
import { parseAskOptions } from './options.js';

describe('the options of an ask run', () => {
  it('measure three sizes, one question at a time and sixteen, beside fifty changes a second', () => {
    expect(parseAskOptions([])).toMatchObject({
      rows: [1_000, 10_000, 100_000],
      connections: [1, 16],
      changesPerSecond: 50,
    });
    expect(parseAskOptions(['--rows', '500,700', '--connections', '4'])).toMatchObject({
      rows: [500, 700],
      connections: [4],
    });
  });

  it.each([
    [['--rows', '10'], /--rows 10/],
    [['--connections', '0'], /--connections 0/],
    [['--changes', 'many'], /--changes many/],
  ])('say what does not fit: %j', (args, message) => {
    expect(() => parseAskOptions(args)).toThrow(message);
  });
});
