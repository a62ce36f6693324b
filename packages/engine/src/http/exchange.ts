import { AnswerReader } from './answer-reader.js';
import type { CollectedBody } from './body.js';
import type { Deadline } from './deadline.js';
import type { Pools } from './pools.js';
import type { OutgoingRequest } from './request.js';

/** What one request was answered. */
export interface Answer {
  readonly status: number;
  readonly contentType: string | null;
  /** Set when the answer is a redirect to follow; its body is not read. */
  readonly location: string | undefined;
  readonly retryAfter: string | undefined;
  readonly body: CollectedBody;
}

/** What {@link exchange} takes beside the request. */
export interface ExchangeOptions {
  readonly pools: Pools;
  readonly deadline: Deadline;
  readonly keepBytesMax: number;
}

/** Sends one request and reads its answer. Throws what undici, the socket or TLS throws before the answer begins. */
export async function exchange(request: OutgoingRequest, options: ExchangeOptions): Promise<Answer> {
  const { pools, deadline, keepBytesMax } = options;
  const reader = new AnswerReader(request.method, keepBytesMax);
  const lease = pools.lease(request.url.origin);
  const forget = deadline.onStop((cause) => reader.stop(new Error(cause)));
  try {
    const toSend = {
      method: request.method,
      path: request.url.pathname + request.url.search,
      headers: request.headers.flat(),
      body: request.body,
      // On HTTP/2 undici would hold a POST back until every other call of the connection has ended. It repeats nothing.
      idempotent: true,
    };
    lease.pool.dispatch(toSend, reader);
    return await reader.answer;
  } finally {
    forget();
    lease.release();
  }
}
