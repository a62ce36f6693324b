import { describe, expect, it } from 'vitest';
import { parseFuzzAskOptions } from './options.js';

describe('the options of a fuzz-ask run', () => {
  it('ask a hundred thousand questions unless told otherwise', () => {
    expect(parseFuzzAskOptions([])).toMatchObject({ questions: 100_000, rows: 10_000, seed: 1 });
    expect(parseFuzzAskOptions(['--questions', '500'])).toMatchObject({ questions: 500 });
  });

  it('say what does not fit', () => {
    expect(() => parseFuzzAskOptions(['--questions', 'all'])).toThrow(/--questions all/);
    expect(() => parseFuzzAskOptions(['--rows', '0'])).toThrow(/--rows 0/);
  });
});
