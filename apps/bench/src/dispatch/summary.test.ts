import { describe, expect, it } from 'vitest';
import type { Measurement } from '../load/measure.js';
import type { ModeName } from './modes.js';
import { summaryToText, toCells, toGoals, toRatios } from './summary.js';

function make(mode: ModeName, connections: number, round: number, perSecond: number, p50Ms = 1): Measurement<ModeName> {
  const latency = { count: 1, minMs: 0, p50Ms, p99Ms: 2, maxMs: 3 };
  const loop = { ratePerSecond: undefined, lateP99Ms: undefined };
  const cpu = { serverCpuMs: 0.3, postgresCpuMs: undefined, generatorCpuMs: 0.05, othersCores: 1 };
  return { mode, connections, round, perSecond, latency, answers: 1, samples: [], ...loop, ...cpu };
}

describe('the summary of a dispatch run', () => {
  it('compares within each round, so that a slow round on both sides changes no ratio', () => {
    const all = [
      ...[make('insert', 64, 1, 1_000), make('dispatch', 64, 1, 3_000)],
      ...[make('insert', 64, 2, 100), make('dispatch', 64, 2, 300)],
      ...[make('insert', 64, 3, 2_000), make('dispatch', 64, 3, 6_000)],
    ];
    expect(toRatios(all)[0]?.toInsert).toEqual({ min: 3, median: 3, max: 3 });
  });

  it('judges the rate at 64 connections and the latency at one', () => {
    const all = [
      ...[make('insert', 1, 1, 500, 2), make('dispatch', 1, 1, 400, 2.5)],
      ...[make('insert', 64, 1, 1_000, 60), make('dispatch', 64, 1, 1_900, 30)],
    ];
    const goals = toGoals(toCells(all), toRatios(all));
    expect(goals.map(({ value }) => value)).toEqual([1.9, 0.3, 0.5]);
  });

  it('has no value for a goal whose modes were not measured', () => {
    const all = [make('dispatch', 16, 1, 1_000)];
    expect(toGoals(toCells(all), toRatios(all)).map(({ value }) => value)).toEqual([undefined, undefined, undefined]);
  });

  it('shows the middle of the rounds with their ends, and a dash for what was not measured', () => {
    const all = [1, 2, 3].map((round) => make('bare', 16, round, round * 1_000));
    const text = summaryToText(toCells(all), toRatios(all));
    expect(text).toContain('2000 (1000–3000)');
    expect(text).toMatch(/16 +- +- +-$/);
  });
});
