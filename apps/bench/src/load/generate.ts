import { Connection } from './connection.js';
import { type LoadPlan, type LoadResult, toRequestBytes } from './load.js';
import { Tally } from './tally.js';

/** How long, in ms, answers may take to come after the time is up. */
const DRAIN_MS_MAX = 15_000;

/** One run of a {@link LoadPlan}. */
class Run {
  readonly #plan: LoadPlan;
  readonly #request: Buffer;
  readonly #tally: Tally;
  readonly #open = new Set<Connection>();
  #endsAt = 0;
  #finish: () => void = () => undefined;

  constructor(plan: LoadPlan) {
    this.#plan = plan;
    this.#request = toRequestBytes(plan);
    this.#tally = new Tally(plan);
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
    return this.#tally.toResult((user + system) / 1_000);
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
        const inTime = now < this.#endsAt;
        this.#tally.count(answer, now - sentAt, inTime);
        if (!inTime) return this.#close(connection);
        sentAt = now;
        connection.send(this.#request);
      },
      onBroken: (error) => {
        this.#tally.countError(error.message);
        this.#close(connection);
      },
    });
    this.#open.add(connection);
    return () => {
      sentAt = performance.now();
      connection.send(this.#request);
    };
  }

  #close(connection: Connection): void {
    connection.close();
    this.#open.delete(connection);
    if (this.#open.size === 0) this.#finish();
  }

  #giveUp(): void {
    this.#tally.countError(`${this.#open.size} answers did not come within ${DRAIN_MS_MAX} ms of the end`);
    for (const connection of this.#open) this.#close(connection);
  }
}

/** Sends the plan's load and says what came of it. @throws Error when the server cannot be reached. */
export function generateLoad(plan: LoadPlan): Promise<LoadResult> {
  return new Run(plan).run();
}
