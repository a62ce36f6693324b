import { Pool } from 'undici';
import type { Api } from '../api.js';
import { type Latency, toLatency } from '../statistics.js';

/** What came of many requests of one kind. */
export interface Asked {
  readonly latency: Latency;
  /** What the server says that the engine took of it (Server-Timing `ask`, W3C); undefined when it does not say. */
  readonly engine: Latency | undefined;
  readonly perSecond: number;
}

interface Timed {
  readonly tookMs: number;
  readonly engineMs: number | undefined;
}

/** Reads the duration of `ask`, in ms, out of a Server-Timing header. */
export function readAskTiming(header: string | string[] | undefined): number | undefined {
  const text = [header ?? []].flat().join(',');
  const duration = /(?:^|,)\s*ask\s*;[^,]*?dur=([0-9.]+)/.exec(text)?.[1];
  return duration === undefined ? undefined : Number(duration);
}

/** Sends requests to an API process, a few at once. */
export class Asker {
  readonly #pool: Pool;
  readonly #connections: number;

  constructor({ url }: Api, connections: number) {
    this.#pool = new Pool(url, { connections });
    this.#connections = connections;
  }

  /** Asks all questions. @throws Error at the first answer that is not a right one. */
  ask(questions: readonly string[]): Promise<Asked> {
    return this.#sendAll(questions.map((question) => `/api/dispatch?ask=${encodeURIComponent(question)}`));
  }

  /** Asks as often whether the process lives: what the machine and HTTP take by themselves. */
  ping(count: number): Promise<Asked> {
    return this.#sendAll(Array.from({ length: count }, () => '/livez'));
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  async #sendAll(paths: readonly string[]): Promise<Asked> {
    const startedAt = performance.now();
    const timed: Timed[] = [];
    let next = 0;
    const send = async () => {
      for (let path = paths[next++]; path !== undefined; path = paths[next++]) timed.push(await this.#time(path));
    };
    await Promise.all(Array.from({ length: this.#connections }, send));
    const engine = timed.flatMap(({ engineMs }) => (engineMs === undefined ? [] : [engineMs]));
    return {
      latency: toLatency(timed.map(({ tookMs }) => tookMs)),
      engine: engine.length === 0 ? undefined : toLatency(engine),
      perSecond: (timed.length * 1_000) / (performance.now() - startedAt),
    };
  }

  async #time(path: string): Promise<Timed> {
    const sentAt = performance.now();
    const { statusCode, headers, body } = await this.#pool.request({ method: 'GET', path });
    const text = await body.text();
    const tookMs = performance.now() - sentAt;
    if (statusCode !== 200) throw new Error(`${path}: ${statusCode} ${text.slice(0, 500)}`);
    return { tookMs, engineMs: readAskTiming(headers['server-timing']) };
  }
}
