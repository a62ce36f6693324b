/**
 * Why a service gave no vectors.
 *
 * - `refused`: it does not take these texts (400, 413, 422), and is well otherwise.
 * - `status`: it answers with another status.
 * - `unreachable`, `timeout`: it does not answer, or not in time.
 * - `bad_answer`: what it answers are no vectors.
 */
export type EmbeddingFailure = 'refused' | 'status' | 'unreachable' | 'timeout' | 'bad_answer';

/** No vectors were to be had. The message has nothing of what was sent or answered: either may hold a secret. */
export class EmbeddingError extends Error {
  override readonly name = 'EmbeddingError';
  readonly failure: EmbeddingFailure;
  /** How long, in ms, the service asks to be left alone; undefined when it says nothing. */
  readonly retryAfterMs: number | undefined;

  constructor(failure: EmbeddingFailure, message: string, retryAfterMs?: number) {
    super(message);
    this.failure = failure;
    this.retryAfterMs = retryAfterMs;
  }
}
