import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { toLatency } from '../statistics.js';
import type { LoadResult, PacedPlan } from './load.js';
import { toArrivals } from './pace.js';
import { Tally } from './tally.js';

/** How long, in ms, an answer may take. */
const ANSWER_MS_MAX = 15_000;

/** One run of a {@link PacedPlan} through undici, as a program would call. */
class Run {
  readonly #plan: PacedPlan;
  readonly #tally: Tally;
  readonly #pool: Pool;
  readonly #request: Parameters<Pool['request']>[0];
  readonly #lateMs: number[] = [];
  #endsAt = 0;

  constructor(plan: PacedPlan) {
    const { url, headers, body, connections } = plan;
    const { origin, pathname, search } = new URL(url);
    this.#plan = plan;
    this.#tally = new Tally(plan);
    this.#pool = new Pool(origin, { connections, headersTimeout: ANSWER_MS_MAX, bodyTimeout: ANSWER_MS_MAX });
    this.#request = {
      method: 'POST',
      path: `${pathname}${search}`,
      headers: { 'content-type': 'application/json', ...headers },
      body,
    };
  }

  async run(): Promise<LoadResult> {
    const cpuBefore = process.cpuUsage();
    const startedAt = performance.now();
    this.#endsAt = startedAt + this.#plan.durationMs;
    const { connections, ratePerSecond } = this.#plan;
    if (ratePerSecond === undefined) await Promise.all(Array.from({ length: connections }, () => this.#loop()));
    else await this.#pace(startedAt, ratePerSecond);
    const { user, system } = process.cpuUsage(cpuBefore);
    await this.#pool.close();
    const result = this.#tally.toResult((user + system) / 1_000);
    return ratePerSecond === undefined ? result : { ...result, late: toLatency(this.#lateMs) };
  }

  /** Closed loop: an answer, or its failure, sends the next request. A loop ends with its first failure. */
  async #loop(): Promise<void> {
    do {
      if (!(await this.#call())) return;
    } while (performance.now() < this.#endsAt);
  }

  /** Open loop: a request leaves when its time has come, whether answers have come or not. */
  async #pace(startedAt: number, ratePerSecond: number): Promise<void> {
    const calls: Promise<boolean>[] = [];
    for (const arrival of toArrivals(ratePerSecond, this.#plan.durationMs)) {
      const dueAt = startedAt + arrival;
      while (performance.now() < dueAt) await sleep(dueAt - performance.now());
      this.#lateMs.push(performance.now() - dueAt);
      calls.push(this.#call());
    }
    await Promise.all(calls);
  }

  /** One request; its time begins here, so that a wait for a free connection counts. @returns whether an answer came. */
  async #call(): Promise<boolean> {
    const sentAt = performance.now();
    try {
      const { statusCode, body } = await this.#pool.request(this.#request);
      const bytes = Buffer.from(await body.arrayBuffer());
      const now = performance.now();
      this.#tally.count({ status: statusCode, body: bytes }, now - sentAt, now < this.#endsAt);
      return true;
    } catch (error) {
      this.#tally.countError(error instanceof Error ? error.message : String(error));
      return false;
    }
  }
}

/**
 * Sends the plan's load through undici and says what came of it. A closed loop's first request on each connection also
 * connects. Failures are counted, not thrown.
 */
export function callAsPlanned(plan: PacedPlan): Promise<LoadResult> {
  return new Run(plan).run();
}
