import { describe, expect, it } from 'vitest';
import { Spelling } from './spelling.js';

const spellingOf = (...terms: string[]): Spelling => {
  const spelling = new Spelling();
  for (const term of terms) spelling.add(term);
  return spelling;
};

describe('Spelling', () => {
  it.each([
    ['a letter less', 'wether'],
    ['a letter more', 'weatheer'],
    ['another letter', 'weafher'],
    ['two changed about', 'waether'],
  ])('finds what was meant for one with %s', (_, word) => {
    expect(spellingOf('weather', 'winter').find(word)).toEqual(['weather']);
  });

  it.each(['waethre', 'heather', 'wthr', 'weather2', 'constructor', ''])('finds nothing for %s', (word) => {
    expect(spellingOf('weather', 'wthrs').find(word)).toEqual([]);
  });

  it('finds no term that is gone', () => {
    const spelling = spellingOf('weather');
    spelling.delete('weather');
    spelling.delete('never');
    expect(spelling.find('wether')).toEqual([]);
  });

  it('answers three terms at the most', () => {
    expect(spellingOf('tables', 'tablet', 'tabled', 'tabler', 'tablex').find('tablez')).toHaveLength(3);
  });
});
