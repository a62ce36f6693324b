import { Pool } from 'undici';
import type { Api } from '../api.js';
import { cpuOfTree, readProcesses } from '../process-table.js';
import { type Latency, toLatency } from '../statistics.js';
import type { Question } from './questions.js';

/** One question in one round. */
export interface Asked {
  readonly name: string;
  readonly round: number;
  readonly latency: Latency;
  /** CPU time, user and system, of the API process per answer, in ms; NaN where it cannot be read. */
  readonly serverCpuMs: number;
  /** The same of all Postgres processes. */
  readonly postgresCpuMs: number;
}

/** Whom an {@link Asker} asks. */
export interface AskerOptions {
  readonly api: Api;
  readonly postgresPid: number | undefined;
}

/** Asks an API process one question after the other, as its owner. */
export class Asker {
  readonly #pool: Pool;
  readonly #options: AskerOptions;

  constructor(options: AskerOptions) {
    this.#pool = new Pool(options.api.url, { connections: 1 });
    this.#options = options;
  }

  /** Asks `count` times, each time something else. @throws Error at the first answer that is not a right one. */
  async ask(question: Question, { count, round }: { count: number; round: number }): Promise<Asked> {
    const latencies: number[] = [];
    const before = this.#readCpu();
    for (let turn = 0; turn < count; turn += 1) latencies.push(await this.#time(question, round * count + turn));
    const after = this.#readCpu();
    return {
      name: question.name,
      round,
      latency: toLatency(latencies),
      serverCpuMs: (after.server - before.server) / count,
      postgresCpuMs: (after.postgres - before.postgres) / count,
    };
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  #readCpu(): { server: number; postgres: number } {
    const { api, postgresPid = 0 } = this.#options;
    const processes = readProcesses();
    const read = (pid: number) => cpuOfTree(processes, [pid]) ?? Number.NaN;
    return { server: read(api.pid), postgres: read(postgresPid) };
  }

  async #time({ name, toPath, bodyStart }: Question, turn: number): Promise<number> {
    const path = toPath(turn);
    const headers = { authorization: `Bearer ${this.#options.api.ownerKey}` };
    const sentAt = performance.now();
    const { statusCode, body } = await this.#pool.request({ method: 'GET', path, headers });
    const text = await body.text();
    const tookMs = performance.now() - sentAt;
    if (statusCode !== 200 || !text.startsWith(bodyStart))
      throw new Error(`${name}: ${path}: ${statusCode} ${text.slice(0, 500)}`);
    return tookMs;
  }
}
