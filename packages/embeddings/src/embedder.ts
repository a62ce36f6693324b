import type { EmbeddingSettings } from '@rowcall/config';
import type { Log } from '@rowcall/protocol';
import { Circuit } from './circuit.js';
import { EmbeddingClient } from './client.js';
import { EmbeddingError } from './embedding-error.js';
import { RecentVectors } from './recent-vectors.js';

/** Characters of a question that are sent. */
const QUESTION_LENGTH_MAX = 2_000;
/** Requests at the same time; a question that finds no room is ranked without its vector at once. */
const IN_FLIGHT_MAX = 8;
/** How long, in ms, an answer is waited for that comes too late for its question, and in time for the next one alike. */
const TIMEOUT_MS = 5_000;

/**
 * How far a question's vector is there: `embedding` with it; `embedding_late` without it, for it did not come in time;
 * `off` where there is no service.
 */
export interface EmbeddedQuestion {
  readonly state: 'embedding' | 'embedding_late' | 'off';
  /** Of unit length. */
  readonly vector?: Float32Array;
}

/** Puts questions into numbers. */
export interface Embedder {
  /** Never throws, and answers after `budgetMs` at the latest, whatever the service does. */
  embedQuestion(question: string, budgetMs: number): Promise<EmbeddedQuestion>;
  close(): Promise<void>;
}

const OFF: Promise<EmbeddedQuestion> = Promise.resolve({ state: 'off' });
const LATE: EmbeddedQuestion = { state: 'embedding_late' };

/** What {@link buildEmbedder} works with. */
export interface EmbedderOptions {
  readonly log: Log;
  /** Monotonic milliseconds; the machine's clock when not given. */
  readonly now?: () => number;
}

/** Builds the embedder of a process. Without settings it costs nothing and is always `off`. */
export function buildEmbedder(settings: EmbeddingSettings | undefined, options: EmbedderOptions): Embedder {
  if (settings === undefined) return { embedQuestion: () => OFF, close: async () => undefined };
  return new QuestionEmbedder(new EmbeddingClient(settings, IN_FLIGHT_MAX), options);
}

class QuestionEmbedder implements Embedder {
  readonly #client: EmbeddingClient;
  readonly #log: Log;
  readonly #circuit: Circuit;
  readonly #recent = new RecentVectors();
  readonly #flights = new Map<string, Promise<Float32Array | undefined>>();

  constructor(client: EmbeddingClient, { log, now = () => performance.now() }: EmbedderOptions) {
    this.#client = client;
    this.#log = log;
    this.#circuit = new Circuit(now);
  }

  async embedQuestion(question: string, budgetMs: number): Promise<EmbeddedQuestion> {
    const text = question.slice(0, QUESTION_LENGTH_MAX).toWellFormed().trim();
    const vector = this.#recent.find(text) ?? (await within(budgetMs, this.#flights.get(text) ?? this.#fly(text)));
    return vector === undefined ? LATE : { state: 'embedding', vector };
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  /** @returns undefined when the service is not to be asked now. */
  #fly(text: string): Promise<Float32Array | undefined> | undefined {
    if (text === '' || this.#flights.size >= IN_FLIGHT_MAX || !this.#circuit.enter()) return undefined;
    const flight = this.#ask(text).finally(() => this.#flights.delete(text));
    this.#flights.set(text, flight);
    return flight;
  }

  async #ask(text: string): Promise<Float32Array | undefined> {
    try {
      const [vector] = await this.#client.embed([text], { timeoutMs: TIMEOUT_MS });
      if (vector !== undefined) this.#recent.add(text, vector);
      this.#noteSuccess();
      return vector;
    } catch (error) {
      this.#noteFailure(error);
      return undefined;
    }
  }

  #noteSuccess(): void {
    if (this.#circuit.isOpen) this.#log.info({}, 'questions are ranked by their meaning again');
    this.#circuit.succeed();
  }

  #noteFailure(error: unknown): void {
    // A question that the service does not take says nothing of the service: a stranger may have made it for that.
    if (error instanceof EmbeddingError && error.failure === 'refused') {
      this.#circuit.succeed();
      return;
    }
    const wasOpen = this.#circuit.isOpen;
    this.#circuit.fail(error instanceof EmbeddingError ? error.retryAfterMs : undefined);
    if (wasOpen || !this.#circuit.isOpen) return;
    this.#log.warn({ err: error }, 'the embeddings service fails; questions are ranked by their words for a while');
  }
}

/** @returns undefined when the work takes longer. */
async function within<T>(budgetMs: number, work: Promise<T> | undefined): Promise<T | undefined> {
  if (work === undefined) return undefined;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, budgetMs, undefined);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
