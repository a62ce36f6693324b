import { describe, expect, it } from 'vitest';
import { parseRenderOptions } from './options.js';

describe('options of a render run', () => {
  it('takes five rounds when nothing is said', () => {
    expect(parseRenderOptions([])).toMatchObject({ rounds: 5, durationMs: 300, check: false });
  });

  it.each([
    [['--rounds', '0'], /--rounds 0/],
    [['--ms', '0'], /--ms 0/],
    [['--database-url', 'x'], /--database-url/],
  ])('refuses %j and names it', (args, message) => {
    expect(() => parseRenderOptions(args)).toThrow(message);
  });
});
