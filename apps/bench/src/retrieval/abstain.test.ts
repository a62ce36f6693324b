import { describe, expect, it } from 'vitest';
import { removeHalf, toAbstaining } from './abstain.js';

const toQuestion = (id: string, ...relevant: string[]) => ({ id, set: 's', query: id, relevant });

describe('taking away the tools of half the questions', () => {
  const questions = Array.from({ length: 100 }, (_, index) => toQuestion(`q${index}`, `t${index}`, 'shared'));

  it('leaves a question answerable while one of its tools is there', () => {
    const alone = questions.map(({ id, relevant }) => toQuestion(id, ...relevant.slice(0, 1)));
    const { removed, answerable } = removeHalf(alone, 1);
    expect(removed.size).toBe(50);
    expect(alone.map(({ id, relevant }) => answerable.get(id) !== removed.has(relevant[0] ?? ''))).not.toContain(false);
    const both = removeHalf(questions, 1);
    expect(both.removed.has('shared')).toBe(true);
    expect([...both.answerable.values()].filter(Boolean).length).toBe(50);
  });

  it('takes the same for the same seed, and others for another', () => {
    expect(removeHalf(questions, 1)).toEqual(removeHalf(questions, 1));
    expect(removeHalf(questions, 1).removed).not.toEqual(removeHalf(questions, 2).removed);
  });
});

describe('what a system did once tools were gone', () => {
  const answerable = new Map([
    ['there', true],
    ['also there', true],
    ['gone', false],
  ]);

  it('is judged by its confidence, and by its own threshold', () => {
    const answers = [
      { id: 'there', ranked: { keys: [], confidence: 0.9, fits: true } },
      { id: 'also there', ranked: { keys: [], confidence: 0.1, fits: false } },
      { id: 'gone', ranked: { keys: [], confidence: 0.2, fits: false } },
    ];
    expect(toAbstaining(answers, answerable)).toMatchObject({
      answerable: 2,
      unanswerable: 1,
      area: 0.5,
      falseAbstain: 0.5,
      trueAbstain: 1,
    });
  });

  it('stays open for one that does not say how sure it is', () => {
    const answers = [...answerable.keys()].map((id) => ({ id, ranked: { keys: [] } }));
    expect(toAbstaining(answers, answerable)).toMatchObject({ area: undefined, curve: [], falseAbstain: undefined });
  });
});
