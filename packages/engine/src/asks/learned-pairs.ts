import { setTimeout as sleep } from 'node:timers/promises';
import type { Catalogue } from '@rowcall/catalogue';
import type { Log } from '@rowcall/protocol';
import { listLearnedPairs, type Store } from '@rowcall/store';

/** How old, in ms, what is learned may be, and how many pairs are taken. */
const AGE_MAX_MS = 30 * 86_400_000;
const PAIRS_MAX = 2_000;
const EVERY_MS = 60_000;

/** What {@link LearnedPairs} work with. */
export interface LearnedPairsOptions {
  readonly store: Pick<Store, 'db'>;
  readonly catalogue: Pick<Catalogue, 'setLearned'>;
  readonly log: Log;
  /** Between loads, in ms; 60,000 when not given. */
  readonly everyMs?: number;
}

/** Tells the catalogue, every minute, which questions led to calls of which rows. Without a database it keeps what it knows. */
export class LearnedPairs {
  readonly #options: LearnedPairsOptions;
  readonly #abort = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: LearnedPairsOptions) {
    this.#options = options;
  }

  /** Begins to load from time to time. */
  start(): void {
    this.#running ??= this.#run();
  }

  /** Ends with the load that is under way. */
  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#abort;
    while (!signal.aborted) {
      await this.#tryLoad();
      await sleep(this.#options.everyMs ?? EVERY_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  async #tryLoad(): Promise<void> {
    const { store, catalogue, log } = this.#options;
    try {
      const sinceMs = Date.now() - AGE_MAX_MS;
      await catalogue.setLearned(await listLearnedPairs(store.db, { sinceMs, limit: PAIRS_MAX }));
    } catch (error) {
      log.warn({ err: error }, 'what calls taught cannot be read; it is tried again later');
    }
  }
}
