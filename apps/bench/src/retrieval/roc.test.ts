import { describe, expect, it } from 'vitest';
import { type Judged, toArea, toCurve } from './roc.js';

const judge = (answerable: boolean, ...confidences: number[]): Judged[] =>
  confidences.map((confidence) => ({ confidence, answerable }));

describe('the area under the ROC curve', () => {
  it.each([
    [[0.9, 0.8], [0.1, 0.2], 1],
    [[0.1, 0.2], [0.9, 0.8], 0],
    [[0.5, 0.5], [0.5], 0.5],
    // Of six pairs, four the right way round and one tie.
    [[0.9, 0.6, 0.2], [0.2, 0.4], 0.75],
  ])('of %j over %j is %d', (answerable, unanswerable, area) => {
    expect(toArea([...judge(true, ...answerable), ...judge(false, ...unanswerable)])).toBe(area);
  });

  it('cannot be told of one kind alone', () => {
    expect(toArea(judge(true, 0.5))).toBeNaN();
  });
});

describe('the curve', () => {
  it('tells for each threshold who would go without an answer', () => {
    const judged = [...judge(true, 0.9, 0.6, 0.3, 0.3), ...judge(false, 0.1, 0.6)];
    expect(toCurve(judged, [0, 0.5, 0.6, 1])).toEqual([
      { threshold: 0, falseAbstain: 0, trueAbstain: 0 },
      { threshold: 0.5, falseAbstain: 0.5, trueAbstain: 0.5 },
      { threshold: 0.6, falseAbstain: 0.5, trueAbstain: 0.5 },
      { threshold: 1, falseAbstain: 1, trueAbstain: 1 },
    ]);
  });
});
