import { describe, expect, it } from 'vitest';
import { makeQuestions } from './questions.js';

const questions = makeQuestions(2_000, { rows: 1_000, seed: 1 });
const words = questions.map((question) => question.split(' ').length);

describe('questions of the ask bench', () => {
  it('have 4 to 25 words, and some have several clauses', () => {
    expect(Math.min(...words)).toBe(4);
    expect(Math.max(...words)).toBeLessThanOrEqual(25);
    expect(Math.max(...words)).toBeGreaterThan(20);
    expect(questions.filter((question) => question.includes(' and ')).length).toBeGreaterThan(300);
  });

  it('are the same for a seed, and others for another', () => {
    expect(makeQuestions(2_000, { rows: 1_000, seed: 1 })).toEqual(questions);
    expect(makeQuestions(2_000, { rows: 1_000, seed: 2 })).not.toEqual(questions);
  });
});
