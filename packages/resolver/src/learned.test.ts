import { expect, it } from 'vitest';
import { Learned } from './learned.js';
import { parseQuestion } from './question.js';

it('reads 2,000 long questions without holding others up', async () => {
  const pairs = Array.from({ length: 2_000 }, (_, number) => ({
    question: Array.from({ length: 60 }, (_, word) => `w${number}x${word}`)
      .join(' ')
      .slice(0, 500),
    key: number % 2 === 0 ? 'EVEN' : 'ODD',
    count: 1,
  }));
  let turns = 0;
  const taught = [
    ...pairs,
    { question: 'the weather', key: 'A', count: 3 },
    { question: 'weather?', key: 'B', count: 1 },
  ];
  const learned = await Learned.of(taught, async () => {
    turns += 1;
  });
  expect(turns).toBe(100);
  expect(learned.find(parseQuestion('Weather please'))).toEqual(
    new Map([
      ['A', 0.75],
      ['B', 0.25],
    ]),
  );
});
