import { describe, expect, it } from 'vitest';
import { parseRetrievalOptions } from './options.js';

describe('the options of a retrieval run', () => {
  it('compare all systems on all questions unless told otherwise', () => {
    expect(parseRetrievalOptions(['--data', 'dev'])).toMatchObject({
      dataDir: 'dev',
      systems: ['rowcall', 'substring', 'minisearch', 'minisearch-tuned'],
      half: 'all',
      abstain: false,
    });
    expect(parseRetrievalOptions(['--data', 'dev', '--system', 'minisearch', '--half', 'b'])).toMatchObject({
      systems: ['minisearch'],
      half: 'b',
    });
  });

  it.each([
    [[], /--data/],
    [['--data', 'dev', '--system', 'google'], /--system google/],
    [['--data', 'dev', '--half', 'c'], /--half c/],
    [['--data', 'dev', '--seed', '-1'], /--seed/],
    [['--data', 'dev', '--write-ranking', 'out'], /--write-ranking/],
    [['--data', 'dev', '--write-ranking', 'out', '--system', 'rowcall', '--abstain'], /--write-ranking/],
  ])('say what does not fit: %j', (args, message) => {
    expect(() => parseRetrievalOptions(args)).toThrow(message);
  });
});
