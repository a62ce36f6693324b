import { EmbeddingError } from '@rowcall/embeddings';
import type { Log } from '@rowcall/protocol';

const FIRST_MS = 1_000;
const MAX_MS = 300_000;
/** The longest wait for the database, in ms: it is no one else's, and back soon. */
const DATABASE_MAX_MS = 5_000;

/** What a {@link BackOff} works with. */
export interface BackOffOptions {
  readonly log: Log;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** The first wait at the most, in ms; 1,000 when not given. */
  readonly firstMs?: number | undefined;
}

/**
 * How long to wait after failures in a row: twice as long each time, up to five minutes, half of it at random. Says
 * once what fails.
 */
export class BackOff {
  readonly #options: BackOffOptions;
  #failures = 0;
  /** What was said last; undefined while all is well. */
  #said: string | undefined;

  constructor(options: BackOffOptions) {
    this.#options = options;
  }

  /** @returns ms to wait, no less than the service asks for. */
  fail(error: unknown): number {
    const { log, random, firstMs = FIRST_MS } = this.#options;
    const isService = error instanceof EmbeddingError;
    const what = isService ? error.message : 'database';
    if (what !== this.#said) log.warn({ err: error }, 'vectors of rows cannot be computed; rows are found without');
    this.#said = what;
    const waitMs = Math.min(isService ? MAX_MS : DATABASE_MAX_MS, firstMs * 2 ** this.#failures);
    this.#failures = Math.min(this.#failures + 1, 30);
    const askedMs = isService ? (error.retryAfterMs ?? 0) : 0;
    return Math.max(askedMs, waitMs / 2) + (waitMs / 2) * random();
  }

  succeed(): void {
    if (this.#said !== undefined) this.#options.log.info({}, 'vectors of rows are computed again');
    this.#said = undefined;
    this.#failures = 0;
  }
}
