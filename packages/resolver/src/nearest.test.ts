import { describe, expect, it } from 'vitest';
import { nearestKeys } from './nearest.js';

const KEYS = ['NOW', 'ECHO', 'WEATHER_FORECAST', 'WEATHER', 'GITHUB_REPO', 'SEND_MAIL'];

describe('nearestKeys', () => {
  it.each([
    ['NWO', ['NOW']],
    ['now ', ['NOW']],
    ['WEATHER_FORCAST', ['WEATHER_FORECAST', 'WEATHER']],
    ['github-repo', ['GITHUB_REPO']],
    ['WEATH', ['WEATHER', 'WEATHER_FORECAST']],
    ['NOTHING_LIKE_IT', []],
    ['', []],
    ['../../etc', []],
  ])('%s was probably meant as %j', (asked, expected) => {
    expect(nearestKeys(asked, KEYS, 6)).toEqual(expected);
  });

  it('gives no more than asked for', () => {
    const keys = Array.from({ length: 40 }, (_, index) => `KEY_${index}`);
    expect(nearestKeys('KEY_X', keys, 6)).toHaveLength(6);
  });

  it('finds the near key among a hundred thousand unlike ones', () => {
    const crowd = Array.from({ length: 100_000 }, (_, index) => `QZ_${index.toString(36).toUpperCase()}`);
    expect(nearestKeys('WEATHR', [...crowd, 'WEATHER'], 6)[0]).toBe('WEATHER');
  });
});
