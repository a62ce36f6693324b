import type { EmbeddingSettings } from '@rowcall/config';
import { type Dispatcher, Pool } from 'undici';
import { EmbeddingError } from './embedding-error.js';
import { parseAnswer } from './parse-answer.js';
import { parseRetryAfter } from './retry-after.js';

/** Bytes of an answer that are read, for the texts of one request together. */
const BYTES_BASE = 65_536;
/** And for each of them: the numbers of a vector, as long as JSON may write them. */
const BYTES_PER_TEXT = 131_072;
/** How long, in ms, a connection is kept that nothing goes over: an answer within the budget needs an open one. */
const KEEP_ALIVE_MS = 30_000;
/** Statuses by which a service refuses the texts and not the request. */
const REFUSALS = new Set([400, 413, 422]);

/** How long one request may take. */
export interface EmbedOptions {
  readonly timeoutMs: number;
  /** Aborted when nobody wants the answer any more. */
  readonly signal?: AbortSignal;
}

/** Asks an OpenAI-compatible service for vectors, over connections that it keeps open. Follows no redirect and tries nothing twice. */
export class EmbeddingClient {
  readonly #settings: EmbeddingSettings;
  readonly #path: string;
  readonly #pool: Pool;

  /** @param connectionsMax requests at the same time. @throws TypeError when the URL is none. */
  constructor(settings: EmbeddingSettings, connectionsMax: number) {
    const url = new URL(settings.url);
    this.#settings = settings;
    this.#path = `${url.pathname.replace(/\/+$/, '')}/embeddings${url.search}`;
    this.#pool = new Pool(url.origin, {
      connections: connectionsMax,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // The time of the request bounds both.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  /** @returns a vector of unit length for each text, in their order. @throws EmbeddingError */
  async embed(texts: readonly string[], { timeoutMs, signal }: EmbedOptions): Promise<Float32Array[]> {
    const timeout = AbortSignal.timeout(timeoutMs);
    const text = await this.#ask(texts, signal === undefined ? timeout : AbortSignal.any([timeout, signal]));
    return parseAnswer(text, { count: texts.length, dimensions: this.#settings.dimensions });
  }

  /** Ends every connection at once. */
  async close(): Promise<void> {
    await this.#pool.destroy();
  }

  async #ask(texts: readonly string[], signal: AbortSignal): Promise<string> {
    try {
      const answer = await this.#pool.request({ ...this.#toRequest(texts), signal });
      if (answer.statusCode === 200) return await readText(answer.body, BYTES_BASE + texts.length * BYTES_PER_TEXT);
      await answer.body.dump({ limit: BYTES_BASE, signal });
      throw toStatusError(answer);
    } catch (error) {
      throw error instanceof EmbeddingError ? error : toEmbeddingError(error, signal);
    }
  }

  #toRequest(input: readonly string[]): Dispatcher.RequestOptions {
    const { model, key, dimensions } = this.#settings;
    return {
      method: 'POST',
      path: this.#path,
      headers: {
        accept: 'application/json',
        'content-type': 'application/json',
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify({ model, input, ...(dimensions === undefined ? {} : { dimensions }) }),
    };
  }
}

async function readText(body: AsyncIterable<Buffer>, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > bytesMax)
      throw new EmbeddingError('bad_answer', `the embeddings service answered over ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function toStatusError({ statusCode, headers }: Dispatcher.ResponseData): EmbeddingError {
  const failure = REFUSALS.has(statusCode) ? 'refused' : 'status';
  const message = `the embeddings service answered ${statusCode}${toAdvice(statusCode)}`;
  return new EmbeddingError(failure, message, parseRetryAfter(headers['retry-after'], Date.now()));
}

function toAdvice(status: number): string {
  if (status === 401 || status === 403) return ' (check ROWCALL_EMBEDDINGS_KEY)';
  if (status === 404) return ' (check ROWCALL_EMBEDDINGS_URL and ROWCALL_EMBEDDINGS_MODEL)';
  if (status >= 300 && status < 400) return ': it redirects, and requests are not sent on';
  return '';
}

/** By the code alone: the texts of errors below may quote what was sent. */
function toEmbeddingError(error: unknown, signal: AbortSignal): EmbeddingError {
  if (signal.aborted) return new EmbeddingError('timeout', 'the embeddings service did not answer in time');
  const { code } = error as { code?: unknown };
  const reason = typeof code === 'string' ? ` (${code})` : '';
  return new EmbeddingError('unreachable', `the embeddings service is out of reach${reason}`);
}
