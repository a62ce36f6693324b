import type { Latency } from '../statistics.js';

/** What the load generator is asked to do: the same request again and again, one at a time on each connection. */
export interface LoadPlan {
  /** http address with path. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly body: string;
  readonly connections: number;
  readonly durationMs: number;
  /** What every answer's body begins with; an answer that does not counts as an error. */
  readonly bodyStart: string;
  /** Every so many answers, one is kept to be looked at afterwards. */
  readonly sampleEvery: number;
}

/** The same by a pace, for a generator that can keep one. */
export interface PacedPlan extends LoadPlan {
  /** Requests per second, whether answers have come or not; undefined: each answer sends the next request. */
  readonly ratePerSecond: number | undefined;
}

/** What came of it. */
export interface LoadResult {
  /** All answers with status 200 and the right body, those that came after the time was up included. */
  readonly answers: number;
  /** Of them, those within the time. */
  readonly answersInTime: number;
  /** From the first request to the end of sending, in ms. */
  readonly elapsedMs: number;
  readonly latency: Latency;
  /** With a pace: how long after their time requests left, for want of a turn of the generator. */
  readonly late?: Latency;
  /** Answers of any other kind, and broken connections. */
  readonly errors: number;
  /** The first of them. */
  readonly firstError: string | null;
  /** CPU time that the generator itself took, in ms. */
  readonly cpuMs: number;
  /** Bodies of some answers. */
  readonly samples: readonly string[];
}

/** The bytes of the plan's request (RFC 9112). */
export function toRequestBytes({ url, headers, body }: Pick<LoadPlan, 'url' | 'headers' | 'body'>): Buffer {
  const { host, pathname, search } = new URL(url);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `POST ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\n`;
  return Buffer.from(`${head}${lines.join('')}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}
