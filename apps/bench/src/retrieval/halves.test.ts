import { describe, expect, it } from 'vitest';
import { halfOf, selectHalf } from './halves.js';

const questions = Array.from({ length: 1_000 }, (_, index) => ({ id: `question-${index}` }));

describe('the halves of the questions', () => {
  it('follow from the id alone', () => {
    // SHA-256 of "a" begins with ca, of "b" with 3e, of "c" with 2e, of "d" with 18, of "e" with 3f.
    expect(['a', 'b', 'c', 'd', 'e'].map(halfOf)).toEqual(['a', 'a', 'a', 'a', 'b']);
  });

  it('are about as great, have nothing in common, and are all together', () => {
    const [a, b] = [selectHalf(questions, 'a'), selectHalf(questions, 'b')];
    expect(a.length).toBeGreaterThan(450);
    expect(b.length).toBeGreaterThan(450);
    expect(new Set([...a, ...b]).size).toBe(questions.length);
    expect(selectHalf(questions, 'all')).toEqual(questions);
  });
});
