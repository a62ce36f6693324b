import { toLatency } from '../statistics.js';
import { type Answer, Connection } from './connection.js';
import { type LoadPlan, type LoadResult, toRequestBytes } from './load.js';

/** How long, in ms, answers may take to come after the time is up. */
const DRAIN_MS_MAX = 15_000;
const ERROR_TEXT_MAX = 500;

/** One run of a {@link LoadPlan}. */
class Run {
  readonly #plan: LoadPlan;
  readonly #request: Buffer;
  readonly #bodyStart: Buffer;
  readonly #latencies: number[] = [];
  readonly #samples: string[] = [];
  readonly #open = new Set<Connection>();
  #endsAt = 0;
  #answersInTime = 0;
  #errors = 0;
  #firstError: string | null = null;
  #finish: () => void = () => undefined;

  constructor(plan: LoadPlan) {
    this.#plan = plan;
    this.#request = toRequestBytes(plan);
    this.#bodyStart = Buffer.from(plan.bodyStart);
  }

  async run(): Promise<LoadResult> {
    const loops = await Promise.all(Array.from({ length: this.#plan.connections }, () => this.#connect()));
    const finished = new Promise<void>((resolve) => {
      this.#finish = resolve;
    });
    const cpuBefore = process.cpuUsage();
    const startedAt = performance.now();
    this.#endsAt = startedAt + this.#plan.durationMs;
    for (const send of loops) send();
    const late = setTimeout(() => this.#giveUp(), this.#plan.durationMs + DRAIN_MS_MAX);
    await finished;
    clearTimeout(late);
    const { user, system } = process.cpuUsage(cpuBefore);
    return {
      answers: this.#latencies.length,
      answersInTime: this.#answersInTime,
      elapsedMs: this.#plan.durationMs,
      latency: toLatency(this.#latencies),
      errors: this.#errors,
      firstError: this.#firstError,
      cpuMs: (user + system) / 1_000,
      samples: this.#samples,
    };
  }

  /** @returns sends the connection's first request; each answer sends the next. */
  async #connect(): Promise<() => void> {
    const { hostname, port } = new URL(this.#plan.url);
    let sentAt = 0;
    const connection = await Connection.open({
      host: hostname,
      port: Number(port),
      onAnswer: (answer) => {
        const now = performance.now();
        this.#count(answer, now, now - sentAt);
        if (now >= this.#endsAt) return this.#close(connection);
        sentAt = now;
        connection.send(this.#request);
      },
      onBroken: (error) => {
        this.#countError(error.message);
        this.#close(connection);
      },
    });
    this.#open.add(connection);
    return () => {
      sentAt = performance.now();
      connection.send(this.#request);
    };
  }

  #count({ status, body }: Answer, now: number, latencyMs: number): void {
    const isRight = status === 200 && body.subarray(0, this.#bodyStart.length).equals(this.#bodyStart);
    if (!isRight) {
      this.#countError(`${status} ${body.toString('utf8')}`);
      return;
    }
    if (this.#latencies.length % this.#plan.sampleEvery === 0) this.#samples.push(body.toString('utf8'));
    this.#latencies.push(latencyMs);
    if (now < this.#endsAt) this.#answersInTime += 1;
  }

  #countError(text: string): void {
    this.#errors += 1;
    this.#firstError ??= text.slice(0, ERROR_TEXT_MAX);
  }

  #close(connection: Connection): void {
    connection.close();
    this.#open.delete(connection);
    if (this.#open.size === 0) this.#finish();
  }

  #giveUp(): void {
    this.#countError(`${this.#open.size} answers did not come within ${DRAIN_MS_MAX} ms of the end`);
    for (const connection of this.#open) this.#close(connection);
  }
}

/** Sends the plan's load and says what came of it. @throws Error when the server cannot be reached. */
export function generateLoad(plan: LoadPlan): Promise<LoadResult> {
  return new Run(plan).run();
}
