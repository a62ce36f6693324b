import { describe, expect, it } from 'vitest';
import { parseImportOptions } from './options.js';

describe('options of an import run', () => {
  it('imports a hundred thousand rows once when nothing is said', () => {
    expect(parseImportOptions([])).toMatchObject({ rows: 100_000, rounds: 1, check: false });
  });

  it.each([
    [['--rows', '99'], /--rows 99/],
    [['--rounds', '0'], /--rounds 0/],
    [['--database-url', 'postgres://x', '--rounds', '2'], /--rounds/],
    [['--changes', '1'], /--changes/],
  ])('refuses %j and names it', (args, message) => {
    expect(() => parseImportOptions(args)).toThrow(message);
  });
});
