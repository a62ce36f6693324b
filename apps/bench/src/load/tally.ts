import { toLatency } from '../statistics.js';
import type { LoadPlan, LoadResult } from './load.js';

const ERROR_TEXT_MAX = 500;

/** What a load generator has counted so far. */
export class Tally {
  readonly #plan: LoadPlan;
  readonly #bodyStart: Buffer;
  readonly #latencies: number[] = [];
  readonly #samples: string[] = [];
  #answersInTime = 0;
  #errors = 0;
  #firstError: string | null = null;

  constructor(plan: LoadPlan) {
    this.#plan = plan;
    this.#bodyStart = Buffer.from(plan.bodyStart);
  }

  /**
   * Takes an answer and judges it by the plan. Its body may be overwritten afterwards.
   * @param inTime whether it came before the time was up.
   */
  count({ status, body }: { status: number; body: Buffer }, latencyMs: number, inTime: boolean): void {
    const isRight = status === 200 && body.subarray(0, this.#bodyStart.length).equals(this.#bodyStart);
    if (!isRight) {
      this.countError(`${status} ${body.toString('utf8')}`);
      return;
    }
    if (this.#latencies.length % this.#plan.sampleEvery === 0) this.#samples.push(body.toString('utf8'));
    this.#latencies.push(latencyMs);
    if (inTime) this.#answersInTime += 1;
  }

  countError(text: string): void {
    this.#errors += 1;
    this.#firstError ??= text.slice(0, ERROR_TEXT_MAX);
  }

  /** @param cpuMs what the generator took of the CPU meanwhile. */
  toResult(cpuMs: number): LoadResult {
    return {
      answers: this.#latencies.length,
      answersInTime: this.#answersInTime,
      elapsedMs: this.#plan.durationMs,
      latency: toLatency(this.#latencies),
      errors: this.#errors,
      firstError: this.#firstError,
      cpuMs,
      samples: this.#samples,
    };
  }
}
