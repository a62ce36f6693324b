import type { Child } from '../child.js';
import { watchOthers } from '../others.js';
import { cpuOfTree, readProcesses } from '../process-table.js';
import type { Latency } from '../statistics.js';
import type { LoadPlan, LoadResult, PacedPlan } from './load.js';

/** The process that serves one way to answer, and the request it is asked. */
export interface Mode<Name extends string> {
  readonly name: Name;
  readonly pid: number;
  readonly request: Pick<LoadPlan, 'url' | 'headers' | 'body' | 'bodyStart'>;
}

/** One mode under one load, once. */
export interface Measurement<Name extends string> {
  readonly mode: Name;
  readonly connections: number;
  /** Requests per second that were to be sent; undefined when each answer sent the next request. */
  readonly ratePerSecond: number | undefined;
  readonly round: number;
  /** Answers with status 200, late ones included. */
  readonly answers: number;
  readonly perSecond: number;
  readonly latency: Latency;
  /** How late requests left that had their time, 99th of a hundred, in ms; undefined without a pace. */
  readonly lateP99Ms: number | undefined;
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
  /** A process that takes a {@link LoadPlan} and answers with a {@link LoadResult}. */
  readonly generator: Child;
  readonly postgresPid: number | undefined;
  readonly connections: number;
  /** For a generator that can keep a pace. */
  readonly ratePerSecond?: number | undefined;
  readonly round: number;
  readonly durationMs: number;
}

/** Prime, so that samples do not always fall on the same connection. */
const SAMPLE_EVERY = 997;

/** Loads one mode and reads what it cost. @throws Error at the first answer that is not a right one. */
export async function measure<Name extends string>(
  mode: Mode<Name>,
  options: MeasureOptions,
): Promise<Measurement<Name>> {
  const { generator, connections, ratePerSecond, round, durationMs, postgresPid } = options;
  const load = { connections, ratePerSecond, durationMs, sampleEvery: SAMPLE_EVERY };
  const plan: PacedPlan = { ...mode.request, ...load };
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
    ratePerSecond,
    round,
    answers: result.answers,
    perSecond: (result.answersInTime * 1_000) / result.elapsedMs,
    latency: result.latency,
    lateP99Ms: result.late?.p99Ms,
    serverCpuMs: perAnswer(mode.pid),
    postgresCpuMs: postgresPid === undefined ? undefined : perAnswer(postgresPid),
    generatorCpuMs: result.cpuMs / result.answers,
    othersCores,
    samples: result.samples,
  };
}
