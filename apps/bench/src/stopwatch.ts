import { type Latency, toLatency } from './statistics.js';

/**
 * Times pieces of synchronous work, by the clock and by the CPU time that this process took meanwhile. On a machine that
 * others use, the clock also counts the waiting for a core; CPU time does not, but counts what compiler and garbage
 * collector do beside the work.
 */
export class Stopwatch {
  readonly #wallMs: number[] = [];
  readonly #cpuMs: number[] = [];

  /** Does `work` and takes its time. */
  time<T>(work: () => T): T {
    const cpuBefore = process.cpuUsage();
    const startedAt = performance.now();
    const result = work();
    this.#wallMs.push(performance.now() - startedAt);
    const { user, system } = process.cpuUsage(cpuBefore);
    this.#cpuMs.push((user + system) / 1_000);
    return result;
  }

  /** By the clock. */
  get wall(): Latency {
    return toLatency(this.#wallMs);
  }

  /** CPU time, user and system. */
  get cpu(): Latency {
    return toLatency(this.#cpuMs);
  }
}
