import { expect, it } from 'vitest';
import { RecentVectors } from './recent-vectors.js';

it('the 1,000 questions that were asked last are remembered', () => {
  const recent = new RecentVectors();
  const vector = Float32Array.of(1);
  recent.add('asked again and again', vector);
  for (let number = 0; number < 1_000; number += 1) {
    recent.add(`question ${number}`, vector);
    recent.find('asked again and again');
  }
  expect(recent.find('asked again and again')).toBe(vector);
  expect(recent.find('question 0')).toBeUndefined();
  expect(recent.find('question 1')).toBe(vector);
});
