import { describe, expect, it } from 'vitest';
import type { Measurement } from '../load/measure.js';
import type { ModeName } from './modes.js';
import { httpToText, type Load, toAdded, toCells, toHttpGoals } from './summary.js';

const closed: Load = { connections: 16, ratePerSecond: undefined };
const paced: Load = { connections: 16, ratePerSecond: 200 };

function make(mode: ModeName, load: Load, round: number, p50Ms: number, perSecond = 100): Measurement<ModeName> {
  const latency = { count: 1, minMs: 0, p50Ms, p99Ms: p50Ms * 10, maxMs: 999 };
  const cpu = { serverCpuMs: 0.3, postgresCpuMs: undefined, generatorCpuMs: 0.05, othersCores: 1 };
  return { mode, ...load, round, perSecond, latency, lateP99Ms: 0.5, answers: 1, samples: [], ...cpu };
}

const all = [
  ...[make('direct', closed, 1, 1, 4_000), make('dispatch', closed, 1, 3, 1_000)],
  ...[make('again', closed, 1, 0.75), make('insert', closed, 1, 1.5), make('again', closed, 2, 29)],
  ...[make('dispatch', paced, 1, 1.25), make('direct', paced, 1, 0.5)],
  ...[make('dispatch', closed, 2, 30, 100), make('direct', closed, 2, 28, 400)],
  ...[make('direct', paced, 2, 10), make('dispatch', paced, 2, 10.5)],
];

describe('the summary of an http run', () => {
  it('subtracts within each round and under the same load, so that a slow round on both sides adds nothing', () => {
    expect(toAdded(all, [closed, paced])).toMatchObject([
      { ...closed, p50Ms: { min: 2, median: 2, max: 2 }, p99Ms: { median: 20 }, rate: { median: 0.25 } },
      { ...paced, p50Ms: { min: 0.5, median: 0.625, max: 0.75 }, rate: { median: 1 } },
    ]);
  });

  it('tells what an insert takes anyway, what is above it, and how far the same thing differs from itself', () => {
    expect(toAdded(all, [closed])).toMatchObject([
      { floorMs: { min: 1.5 }, overFloorMs: { min: 0.5 }, noiseMs: { min: 0.25, median: 0.625, max: 1 } },
    ]);
  });

  it('judges the closed loop and the pace apart', () => {
    expect(toHttpGoals(toAdded(all, [closed, paced]), 200).map(({ value }) => value)).toEqual([2, 0.625]);
  });

  it('has no value for a load that was not measured', () => {
    const added = toAdded(all, [closed, { connections: 64, ratePerSecond: undefined }]);
    expect(added[1]?.p50Ms.median).toBeNaN();
    expect(toHttpGoals(added, undefined).map(({ value }) => value)).toEqual([2, undefined]);
    expect(toHttpGoals([], 200).map(({ value }) => value)).toEqual([undefined, undefined]);
  });

  it('says what a closed loop does not measure', () => {
    const text = httpToText(toCells(all, [closed, paced]), toAdded(all, [closed, paced]));
    expect(text).toMatch(/16 closed loop, dispatch +550 \(100–1000\)/);
    expect(text).toMatch(/16 by a pace, 200\/s +0\.625 \(0\.500–0\.750\)/);
    expect(text).toMatch(/connections \/ rate, not what one caller waits/);
  });
});
