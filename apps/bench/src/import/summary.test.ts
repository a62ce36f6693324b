import { describe, expect, it } from 'vitest';
import { isReached } from '../goals.js';
import { type ImportRound, importToText, type ProcessFigures, toImportGoals } from './summary.js';

const one: ProcessFigures = {
  beforeMb: 90,
  peakMb: 400,
  afterMb: 350,
  kernelPeakMb: 410,
  cpuMs: 2_000,
  answeredToServedMs: 10,
  committedToServedMs: 40,
};
const round: ImportRound = {
  elapsedMs: 20_000,
  bytes: 550_000,
  a: one,
  b: { ...one, committedToServedMs: 3_000 },
  postgresCpuMs: undefined,
  othersCores: 0.1,
};
const goalsOf = (...rounds: ImportRound[]) => toImportGoals({ rows: 1_000, rounds });

describe('goals of an import run', () => {
  it('judge the peak of A, and when both had all rows, in the worst round', () => {
    const worse = { ...round, a: { ...one, peakMb: 501, committedToServedMs: 20 } };
    expect(goalsOf(round, worse).map(({ value }) => value)).toEqual([501, 40, 3_000]);
    expect(goalsOf(round).map(isReached)).toEqual([true, true, true]);
    expect(goalsOf(round, worse).map(isReached)).toEqual([false, true, true]);
  });

  it('count from the answer where commit times are not known', () => {
    const unknown = { ...round, b: { ...one, committedToServedMs: Number.NaN, answeredToServedMs: 5_001 } };
    expect(goalsOf(unknown).map(isReached)).toEqual([true, true, false]);
  });

  it('are not reached by memory that could not be read', () => {
    const unread = { ...round, a: { ...one, peakMb: Number.NaN } };
    expect(goalsOf(round, unread).map(isReached)).toEqual([false, true, true]);
  });
});

describe('the summary of an import run', () => {
  it('gives the rate, and a dash for what was not measured', () => {
    const text = importToText({ rows: 1_000, rounds: [round] });
    expect(text).toMatch(/rows\/s +50\.0\n/);
    expect(text).toMatch(/bytes of a line +550\n/);
    expect(text).toMatch(/postgres, CPU ms a row +-\n/);
    expect(text).toMatch(/last commit → all served, ms +40\.0 +3000/);
  });
});
