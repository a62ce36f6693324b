import { setTimeout as sleep } from 'node:timers/promises';
import { type Catalogue, isProjected } from '@rowcall/catalogue';
import { deleteOrphanEmbeddings, EMBEDDING_CHANNEL, type Subscription } from '@rowcall/store';
import { BackOff } from './back-off.js';
import { firstOf } from './first-of.js';
import { RowVectors, type RowVectorsOptions } from './row-vectors.js';

/** Rows that one query compares with what is stored. */
const CHECK_MAX = 500;
/** How long, in ms, another process is left its turn, unless it says earlier that it has stored something. */
const BUSY_MS = 2_000;
/** How often, in ms, all rows are compared with what is stored, whatever was heard of. */
const CHECK_ALL_EVERY_MS = 3_600_000;

/** What a {@link RowEmbedder} works with. */
export interface RowEmbedderOptions extends Omit<RowVectorsOptions, 'signal' | 'catalogue'> {
  readonly catalogue: Pick<Catalogue, 'find' | 'list' | 'watch'>;
  /** The first wait after a failure at the most, in ms; 1,000 when not given. */
  readonly retryFirstMs?: number;
}

/**
 * Keeps the vectors of rows up to date: looks at every row when it connects, and at those that change. Of any number of
 * runners one computes at a time. Whatever fails is tried again later, and holds nothing up.
 */
export class RowEmbedder {
  readonly #options: RowEmbedderOptions;
  readonly #abort = new AbortController();
  readonly #vectors: RowVectors;
  readonly #backOff: BackOff;
  /** Keys to compare with what is stored, and keys that have no vector. */
  readonly #unchecked = new Set<string>();
  readonly #missing = new Set<string>();
  #isConnected = false;
  #isSweepDue = false;
  #timer: NodeJS.Timeout | undefined;
  #working: Promise<void> | undefined;
  /** Ends the wait for another process. */
  #goOn: (() => void) | undefined;

  constructor(options: RowEmbedderOptions) {
    const { log, retryFirstMs: firstMs } = options;
    this.#options = options;
    this.#vectors = new RowVectors({ ...options, signal: this.#abort.signal });
    this.#backOff = new BackOff({ log, firstMs, random: Math.random });
    options.catalogue.watch((key) => this.#note(key));
  }

  /** What the process's listener has to deliver here, behind what the catalogue gets: rows first. */
  get subscription(): Subscription {
    return {
      channel: EMBEDDING_CHANNEL,
      onNotification: () => this.#goOn?.(),
      onConnected: async () => {
        this.#isConnected = true;
        this.#timer ??= setInterval(() => this.#checkAll(), CHECK_ALL_EVERY_MS).unref();
        this.#checkAll();
      },
    };
  }

  /** Gives up what is under way. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#abort.abort();
    await this.#working;
  }

  #note(key: string): void {
    if (!this.#isConnected) return;
    this.#unchecked.add(key);
    this.#wake();
  }

  #checkAll(): void {
    this.#vectors.forgetRefused();
    this.#isSweepDue = true;
    for (const { key, row } of this.#options.catalogue.list()) if (isProjected(row)) this.#unchecked.add(key);
    this.#wake();
  }

  get #hasMore(): boolean {
    return !this.#abort.signal.aborted && (this.#isSweepDue || this.#unchecked.size > 0 || this.#missing.size > 0);
  }

  #wake(): void {
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined;
      // What came when the last look had ended must not wait for the next change.
      if (this.#hasMore) this.#wake();
    });
  }

  async #work(): Promise<void> {
    const { signal } = this.#abort;
    while (this.#hasMore) {
      try {
        await this.#step();
      } catch (error) {
        if (signal.aborted) return;
        await sleep(this.#backOff.fail(error), undefined, { signal, ref: false }).catch(() => undefined);
      }
    }
  }

  async #step(): Promise<void> {
    if (this.#unchecked.size > 0) await this.#check();
    else if (this.#missing.size > 0) await this.#compute();
    else await this.#sweep();
  }

  async #check(): Promise<void> {
    const keys = firstOf(this.#unchecked, CHECK_MAX);
    // Before the query: a row that changes meanwhile comes in anew.
    for (const key of keys) this.#unchecked.delete(key);
    try {
      for (const key of await this.#vectors.listMissing(keys)) this.#missing.add(key);
    } catch (error) {
      for (const key of keys) this.#unchecked.add(key);
      throw error;
    }
  }

  async #compute(): Promise<void> {
    const done = await this.#vectors.compute(this.#missing);
    if (done === undefined) return this.#untilTurn();
    for (const key of done) this.#missing.delete(key);
    this.#backOff.succeed();
  }

  async #sweep(): Promise<void> {
    await deleteOrphanEmbeddings(this.#options.store.db);
    this.#isSweepDue = false;
    this.#backOff.succeed();
  }

  async #untilTurn(): Promise<void> {
    const goOn = new AbortController();
    this.#goOn = () => goOn.abort();
    const signal = AbortSignal.any([goOn.signal, this.#abort.signal]);
    await sleep(BUSY_MS, undefined, { signal, ref: false }).catch(() => undefined);
    this.#goOn = undefined;
  }
}
