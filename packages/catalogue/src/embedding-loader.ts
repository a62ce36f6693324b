import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '@rowcall/protocol';
import {
  EMBEDDING_CHANNEL,
  listRowEmbeddings,
  listRowEmbeddingsOf,
  type Store,
  type StoredRowEmbedding,
  type Subscription,
} from '@rowcall/store';
import type { Catalogue } from './catalogue.js';
import { toEmbeddingText } from './embedding-text.js';

/** Vectors that are read in one query: no more of them are in memory twice. */
const READ_BATCH = 500;
const RETRY_FIRST_MS = 100;
const RETRY_MAX_MS = 5_000;

/** What an {@link EmbeddingLoader} works with. */
export interface EmbeddingLoaderOptions {
  readonly store: Pick<Store, 'db'>;
  readonly catalogue: Catalogue;
  /** Whose vectors are loaded, as `toModelName` names it. */
  readonly model: string;
  /** SHA-256 of a text, lower-case hex. */
  readonly sha256: (text: string) => string;
  readonly log: Log;
}

/**
 * Brings the stored vectors of rows into a catalogue, and keeps up with what is stored and what rows change to. A vector
 * is handed on only where it is of the very text that its row has now. Nobody waits for it: rows are found without.
 */
export class EmbeddingLoader {
  readonly #options: EmbeddingLoaderOptions;
  readonly #abort = new AbortController();
  /** Keys whose vectors are to be read. */
  readonly #pending = new Set<string>();
  /** Behind which key the load of all goes on; undefined when there is none under way. */
  #after: string | undefined;
  #isConnected = false;
  #loading: Promise<void> | undefined;

  constructor(options: EmbeddingLoaderOptions) {
    this.#options = options;
    options.catalogue.watch((key) => this.#read([key]));
  }

  /** What the process's listener has to deliver here, behind what the catalogue gets: rows first. */
  get subscription(): Subscription {
    return {
      channel: EMBEDDING_CHANNEL,
      onNotification: (payload) => this.#read(payload.split(' ')),
      onConnected: async () => {
        this.#isConnected = true;
        this.#pending.clear();
        this.#after = '';
        this.#wake();
      },
    };
  }

  /** Ends with the query that is under way. */
  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#loading;
  }

  #read(keys: readonly string[]): void {
    if (!this.#isConnected) return;
    for (const key of keys) this.#pending.add(key);
    this.#wake();
  }

  get #hasMore(): boolean {
    return !this.#abort.signal.aborted && (this.#after !== undefined || this.#pending.size > 0);
  }

  #wake(): void {
    this.#loading ??= this.#load().finally(() => {
      this.#loading = undefined;
      // What came when the last look had ended must not wait for the next change.
      if (this.#hasMore) this.#wake();
    });
  }

  async #load(): Promise<void> {
    const { signal } = this.#abort;
    let waitMs = RETRY_FIRST_MS;
    while (this.#hasMore) {
      const isRead = await this.#tryNext(waitMs === RETRY_FIRST_MS);
      if (!isRead) await sleep(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
      waitMs = isRead ? RETRY_FIRST_MS : Math.min(waitMs * 2, RETRY_MAX_MS);
    }
  }

  async #tryNext(isFirstTry: boolean): Promise<boolean> {
    try {
      await (this.#after === undefined ? this.#readPending() : this.#readPage(this.#after));
      return true;
    } catch (error) {
      if (isFirstTry) this.#options.log.warn({ err: error }, 'vectors of rows cannot be read yet');
      return false;
    }
  }

  async #readPage(after: string): Promise<void> {
    const { store, model } = this.#options;
    const page = await listRowEmbeddings(store.db, model, { after, limit: READ_BATCH });
    // Another connection may have begun anew meanwhile.
    if (this.#after === after) this.#after = page.length < READ_BATCH ? undefined : page.at(-1)?.key;
    for (const embedding of page) this.#apply(embedding);
  }

  async #readPending(): Promise<void> {
    const { store, model } = this.#options;
    const keys = [...this.#pending].slice(0, READ_BATCH);
    for (const key of keys) this.#pending.delete(key);
    try {
      for (const embedding of await listRowEmbeddingsOf(store.db, model, keys)) this.#apply(embedding);
    } catch (error) {
      for (const key of keys) this.#pending.add(key);
      throw error;
    }
  }

  /** The row may have another text by now, which has, or gets, a vector of its own; or search does not show it any more. */
  #apply({ key, textSha256, vector }: StoredRowEmbedding): void {
    const { catalogue, sha256 } = this.#options;
    const row = catalogue.find(key)?.row;
    if (row === undefined || sha256(toEmbeddingText(row)) !== textSha256) return;
    catalogue.setEmbedding(key, vector);
  }
}
