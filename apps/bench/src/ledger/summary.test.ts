import { describe, expect, it } from 'vitest';
import type { Measurement } from '../load/measure.js';
import type { Asked } from './ask.js';
import type { Question } from './questions.js';
import { type LedgerName, ledgerToText, toCallCells, toLedgerGoals, toQuestionCells } from './summary.js';

const toQuestion = (name: string, limitMs: number | undefined): Question => ({
  name,
  limitMs,
  toPath: () => '/',
  bodyStart: '',
});
const QUESTIONS = [toQuestion('nothing', undefined), toQuestion('key', 50)];

const toAsked = (name: string, round: number, p99Ms: number): Asked => ({
  name,
  round,
  latency: { count: 100, minMs: 1, p50Ms: 2, p99Ms, maxMs: 90 },
  serverCpuMs: 1,
  postgresCpuMs: 2,
});

const toCalls = (mode: LedgerName, round: number, perSecond: number): Measurement<LedgerName> => ({
  mode,
  connections: 16,
  ratePerSecond: undefined,
  round,
  answers: 100,
  perSecond,
  latency: { count: 100, minMs: 1, p50Ms: 2, p99Ms: 3, maxMs: 4 },
  lateP99Ms: undefined,
  serverCpuMs: 0.1,
  postgresCpuMs: 0.2,
  generatorCpuMs: 0.05,
  othersCores: 0,
  samples: [],
});

describe('the figures of a ledger', () => {
  const asked = [toAsked('nothing', 1, 1), toAsked('key', 1, 40), toAsked('key', 2, 60), toAsked('key', 3, 48)];
  const questions = toQuestionCells(QUESTIONS, asked);
  // The machine was slow in the second round, for both.
  const calls = toCallCells([
    toCalls('full', 1, 950),
    toCalls('empty', 1, 1_000),
    toCalls('empty', 2, 100),
    toCalls('full', 2, 91),
  ]);

  it('are spreads of the rounds, and ratios within each', () => {
    expect(questions[1]).toMatchObject({ name: 'key', p99Ms: { min: 40, median: 48, max: 60 } });
    expect(calls).toMatchObject([{ connections: 16, ratio: { min: 0.91, max: 0.95 } }]);
  });

  it('are judged by their middle; what is there to compare with is not judged', () => {
    expect(toLedgerGoals(questions, calls, 0)).toMatchObject([
      { name: 'p99 of key', value: 48, limit: 50, bound: 'most' },
      { name: 'scans of the whole table', value: 0, limit: 0 },
      { name: 'calls, full/empty at 16 connections', value: expect.closeTo(0.93, 5), limit: 0.9, bound: 'least' },
    ]);
  });

  it('are shown as tables', () => {
    const text = ledgerToText(questions, calls);
    expect(text).toContain('48.0 (40.0–60.0)');
    expect(text).toContain('0.930 (0.910–0.950)');
  });
});
