import type { Child } from '../child.js';
import type { LoadPlan, LoadResult } from '../load/load.js';
import { watchOthers } from '../others.js';
import { cpuOfTree, readProcesses } from '../process-table.js';
import type { Latency } from '../statistics.js';
import type { Mode, ModeName } from './modes.js';

/** One mode under one number of connections, once. */
export interface Measurement {
  readonly mode: ModeName;
  readonly connections: number;
  readonly round: number;
  /** Answers with status 200, late ones included. */
  readonly answers: number;
  readonly perSecond: number;
  readonly latency: Latency;
  /** CPU time, user and system, of the serving process per answer, in ms; undefined where it cannot be read. */
  readonly serverCpuMs: number | undefined;
  /** The same of all Postgres processes, background ones included; undefined for a server that was given. */
  readonly postgresCpuMs: number | undefined;
  /** The same of the load generator. */
  readonly generatorCpuMs: number;
  /** Cores that other processes of the machine took meanwhile; undefined where it cannot be told. */
  readonly othersCores: number | undefined;
  readonly samples: readonly string[];
}

/** What {@link measure} needs. */
export interface MeasureOptions {
  readonly generator: Child;
  readonly postgresPid: number | undefined;
  readonly connections: number;
  readonly round: number;
  readonly durationMs: number;
}

/** Prime, so that samples do not always fall on the same connection. */
const SAMPLE_EVERY = 997;

/** Loads one mode and reads what it cost. @throws Error at the first answer that is not a right one. */
export async function measure(mode: Mode, options: MeasureOptions): Promise<Measurement> {
  const { generator, connections, round, durationMs, postgresPid } = options;
  const plan: LoadPlan = { ...mode.request, connections, durationMs, sampleEvery: SAMPLE_EVERY };
  const othersSince = watchOthers(postgresPid);
  const before = readProcesses();
  const result = await generator.ask<LoadResult>(plan);
  const after = readProcesses();
  const othersCores = othersSince();
  if (result.errors > 0) {
    throw new Error(`${mode.name}, ${connections} connections: ${result.errors} errors, first: ${result.firstError}`);
  }
  const perAnswer = (pid: number) => {
    const used = (cpuOfTree(after, [pid]) ?? Number.NaN) - (cpuOfTree(before, [pid]) ?? Number.NaN);
    return Number.isNaN(used) ? undefined : used / result.answers;
  };
  return {
    mode: mode.name,
    connections,
    round,
    answers: result.answers,
    perSecond: (result.answersInTime * 1_000) / result.elapsedMs,
    latency: result.latency,
    serverCpuMs: perAnswer(mode.pid),
    postgresCpuMs: postgresPid === undefined ? undefined : perAnswer(postgresPid),
    generatorCpuMs: result.cpuMs / result.answers,
    othersCores,
    samples: result.samples,
  };
}
