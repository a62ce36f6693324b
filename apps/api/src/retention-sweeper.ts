import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '@rowcall/protocol';
import type { Expired, Expiry, Store } from '@rowcall/store';

const DAY_MS = 86_400_000;
/** What one sweep deletes at the most: payloads may have megabytes, and calls go on beside it. */
const BATCH_MAX = 1_000;
const FIRST_AFTER_MS = 30_000;
const EVERY_MS = 600_000;
/** The wait after a sweep that left some. */
const NEXT_AFTER_MS = 1_000;

/** What a {@link RetentionSweeper} works on. */
export interface RetentionSweeperOptions {
  readonly store: Pick<Store, 'db'>;
  readonly log: Log;
  /** What it deletes, as the log calls it. */
  readonly what: string;
  /** Deletes one batch. */
  readonly expire: (db: Store['db'], expiry: Expiry) => Promise<Expired>;
  /** Days that it is kept; 0: for ever. */
  readonly days: number;
  /** What one sweep deletes; 1,000 when not given. */
  readonly batchMax?: number;
  /** From the start to the first sweep, in ms; 30,000 when not given. */
  readonly firstAfterMs?: number;
  /** Between sweeps, in ms, when none are left; 600,000 when not given. */
  readonly everyMs?: number;
}

/**
 * Deletes what is kept for a time alone, such as the payloads of receipts, a few at a time. Every API process has one for
 * each; only one of them deletes at a time. Without a database it waits for the next time.
 */
export class RetentionSweeper {
  readonly #options: RetentionSweeperOptions;
  readonly #batchMax: number;
  readonly #abort = new AbortController();
  #running: Promise<void> | undefined;
  #after: string | undefined;

  constructor(options: RetentionSweeperOptions) {
    this.#options = options;
    this.#batchMax = options.batchMax ?? BATCH_MAX;
  }

  /** Begins to sweep from time to time. Does nothing where all is kept for ever. */
  start(): void {
    if (this.#options.days > 0) this.#running ??= this.#run();
  }

  /** Ends with the sweep that is under way. */
  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#running;
  }

  /** One sweep. @returns whether there may be more to delete. */
  async sweep(nowMs: number): Promise<boolean> {
    const { store, days, expire } = this.#options;
    const beforeMs = nowMs - days * DAY_MS;
    const { count, last } = await expire(store.db, { beforeMs, limit: this.#batchMax, after: this.#after });
    const hasMore = count === this.#batchMax;
    // From the start again once all is done: the payload of a call that waited for long is written late.
    this.#after = hasMore ? (last ?? undefined) : undefined;
    return hasMore;
  }

  async #run(): Promise<void> {
    const { signal } = this.#abort;
    const { firstAfterMs = FIRST_AFTER_MS, everyMs = EVERY_MS } = this.#options;
    let waitMs = firstAfterMs;
    while (!signal.aborted) {
      await sleep(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      waitMs = (await this.#trySweep()) ? NEXT_AFTER_MS : everyMs;
    }
  }

  async #trySweep(): Promise<boolean> {
    try {
      return await this.sweep(Date.now());
    } catch (error) {
      const { log, what } = this.#options;
      log.warn({ err: error }, `old ${what} could not be deleted; it is tried again later`);
      return false;
    }
  }
}
