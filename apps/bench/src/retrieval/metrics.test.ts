import { describe, expect, it } from 'vitest';
import { scoreRanking, summarise } from './metrics.js';

const LETTERS = [...'abcdefghijklmnop'];

describe('the score of a ranking', () => {
  it('is whole when what is relevant comes first', () => {
    const scores = scoreRanking(['a', 'b', 'c'], new Set(['a']));
    expect(scores).toEqual({ 'R@1': 1, 'R@5': 1, 'R@12': 1, 'MRR@12': 1, 'nDCG@10': 1, 'C@12': 1 });
  });

  it('counts the places of several', () => {
    // Of a, c and z: 1st, 3rd, never. Gains 1 + 1/2 of 1 + 1/log2(3) + 1/2.
    const scores = scoreRanking(LETTERS, new Set(['a', 'c', 'z']));
    expect(scores['R@1']).toBeCloseTo(0.3333, 4);
    expect(scores['R@5']).toBeCloseTo(0.6667, 4);
    expect(scores['R@12']).toBeCloseTo(0.6667, 4);
    expect(scores['MRR@12']).toBe(1);
    expect(scores['nDCG@10']).toBeCloseTo(0.7039, 4);
    expect(scores['C@12']).toBe(0);
  });

  it('sees twelve results, and gains among ten', () => {
    expect(scoreRanking(LETTERS, new Set(['k']))).toMatchObject({ 'R@5': 0, 'R@12': 1, 'nDCG@10': 0, 'C@12': 1 });
    expect(scoreRanking(LETTERS, new Set(['k']))['MRR@12']).toBeCloseTo(0.0909, 4);
    expect(scoreRanking(LETTERS, new Set(['m']))).toMatchObject({ 'R@12': 0, 'MRR@12': 0, 'C@12': 0 });
  });

  it('is nothing for an empty ranking', () => {
    const scores = scoreRanking([], new Set(['a']));
    expect(scores).toEqual({ 'R@1': 0, 'R@5': 0, 'R@12': 0, 'MRR@12': 0, 'nDCG@10': 0, 'C@12': 0 });
  });
});

describe('the means', () => {
  it('are of each set, of all questions, and of the sets', () => {
    const right = scoreRanking(['a'], new Set(['a']));
    const wrong = scoreRanking(['b'], new Set(['a']));
    const scored = [
      { set: 'x', scores: right },
      { set: 'y', scores: right },
      { set: 'y', scores: wrong },
      { set: 'y', scores: wrong },
      { set: 'y', scores: wrong },
    ];
    const recalls = summarise(scored).map(({ set, questions, scores }) => [set, questions, scores['R@1']]);
    expect(recalls).toEqual([
      ['x', 1, 1],
      ['y', 4, 0.25],
      ['(micro)', 5, 0.4],
      ['(macro)', 5, 0.625],
    ]);
  });
});
