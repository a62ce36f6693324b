import type { Dispatcher } from 'undici';
import { BODY_STOP_BYTES, type CollectedBody, collectBody, EMPTY_BODY } from './body.js';
import type { Deadline } from './deadline.js';
import { inflate } from './inflate.js';
import type { Pools } from './pools.js';
import { isRedirectStatus } from './redirect.js';
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
  const lease = options.pools.lease(request.url.origin);
  try {
    const response = await lease.pool.request({
      method: request.method,
      path: request.url.pathname + request.url.search,
      headers: request.headers.flat(),
      body: request.body,
      signal: options.deadline.signal,
      // On HTTP/2 undici would hold a POST back until every other call of the connection has ended. It repeats nothing.
      idempotent: true,
    });
    return await readAnswer(request, response, options.keepBytesMax);
  } finally {
    lease.release();
  }
}

async function readAnswer(
  request: OutgoingRequest,
  response: Dispatcher.ResponseData,
  keepBytesMax: number,
): Promise<Answer> {
  const header = (name: string): string | undefined => getFirst(response.headers[name]);
  const status = response.statusCode;
  const location = isRedirectStatus(status) ? header('location') : undefined;
  return {
    status,
    contentType: header('content-type') ?? null,
    location,
    retryAfter: header('retry-after'),
    body: location === undefined ? await readBody(request, response, keepBytesMax) : await dropBody(response),
  };
}

async function readBody(
  request: OutgoingRequest,
  response: Dispatcher.ResponseData,
  keepBytesMax: number,
): Promise<CollectedBody> {
  const coding = response.headers['content-encoding'];
  const hasNoBody = request.method === 'HEAD' || response.statusCode === 204 || response.statusCode === 304;
  try {
    const source = hasNoBody ? response.body : inflate(response.body, [coding ?? ''].flat().join(','));
    return await collectBody(source, { keepBytesMax, stopBytes: BODY_STOP_BYTES });
  } catch (error) {
    response.body.on('error', () => undefined).destroy();
    return { ...EMPTY_BODY, truncated: true, error };
  }
}

/** Reads a little, so that the connection can be used again; more closes it. */
async function dropBody(response: Dispatcher.ResponseData): Promise<CollectedBody> {
  await response.body.dump({ limit: 65_536 });
  return EMPTY_BODY;
}

function getFirst(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
