import type { Log } from '@rowcall/protocol';
import { type AskRead, insertAsks, isTransient, type NewAsk, noteAskReads, type Store } from '@rowcall/store';

/** Asks, and reads, that may wait for the database; what comes beyond is dropped. */
const WAITING_MAX = 10_000;
/** Rows of one statement; so many that wait are written at once. */
const BATCH_MAX = 500;
/** How long, in ms, fewer wait for company, and all for the next try after one that failed. */
const FLUSH_AFTER_MS = 1_000;

/** What an {@link AskWriter} works with. */
export interface AskWriterOptions {
  readonly store: Pick<Store, 'pool' | 'db'>;
  readonly log: Log;
}

/** Gathers asks in memory and writes them together, a second later at the most. While the database is away they wait. */
export class AskWriter {
  readonly #options: AskWriterOptions;
  readonly #waiting = new Map<string, NewAsk>();
  /** Asks of the statement that is under way. */
  #inFlight = 0;
  /** The young ones wait for one flush more: their ask may still wait in another process. */
  #reads: readonly AskRead[] = [];
  #youngReads: AskRead[] = [];
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> | undefined;
  #hasFailed = false;
  #dropped = 0;
  #stopped = false;

  constructor(options: AskWriterOptions) {
    this.#options = options;
  }

  /** Asks for which there was no room, or which Postgres refused. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Takes an ask, or drops it where there is no room. One of an id that was taken before was asked again. */
  push(ask: NewAsk): void {
    if (!this.#waiting.has(ask.id) && this.#waiting.size + this.#inFlight >= WAITING_MAX) {
      this.#dropped += 1;
      return;
    }
    this.#put(ask);
    this.#wake();
  }

  /** Takes a read, where there is room. */
  pushRead(read: AskRead): void {
    if (this.#reads.length + this.#youngReads.length >= WAITING_MAX) return;
    this.#youngReads.push(read);
    this.#wake();
  }

  /** Writes what waits now; of the reads, those that have waited for one flush. @throws what the database throws. */
  async flush(): Promise<void> {
    await this.#flushing?.catch(() => undefined);
    await this.#start();
  }

  /** Writes everything that waits, and stops. What the database does not take now is lost. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#reads = [...this.#reads, ...this.#youngReads.splice(0)];
    await this.#tryFlush();
    clearTimeout(this.#timer);
    const lost = this.#waiting.size;
    if (lost > 0) this.#options.log.warn({ lost }, 'asks could not be written before the stop');
  }

  #put(ask: NewAsk): void {
    const known = this.#waiting.get(ask.id);
    this.#waiting.set(ask.id, known === undefined ? ask : { ...ask, times: known.times + ask.times });
  }

  #wake(): void {
    if (this.#flushing !== undefined || this.#stopped) return;
    if (this.#waiting.size >= BATCH_MAX && !this.#hasFailed) void this.#tryFlush();
    else this.#timer ??= setTimeout(() => void this.#tryFlush(), FLUSH_AFTER_MS).unref();
  }

  async #tryFlush(): Promise<void> {
    try {
      await this.flush();
    } catch (error) {
      const { log } = this.#options;
      log.warn({ err: error, asks: this.#waiting.size }, 'asks cannot be written yet');
    }
  }

  #start(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#flushing ??= this.#write().finally(() => {
      this.#flushing = undefined;
      if (this.#waiting.size + this.#reads.length + this.#youngReads.length > 0) this.#wake();
    });
    return this.#flushing;
  }

  async #write(): Promise<void> {
    this.#hasFailed = true;
    for (let left = this.#waiting.size; left > 0; left -= BATCH_MAX) await this.#writeAsks();
    await this.#writeReads();
    this.#hasFailed = false;
  }

  async #writeAsks(): Promise<void> {
    const batch = [...this.#waiting.values()].slice(0, BATCH_MAX);
    for (const { id } of batch) this.#waiting.delete(id);
    this.#inFlight = batch.length;
    try {
      await insertAsks(this.#options.store.pool, batch);
    } catch (error) {
      if (isTransient(error)) for (const ask of batch) this.#put(ask);
      // What Postgres refuses it would refuse again.
      else this.#dropped += batch.length;
      throw error;
    } finally {
      this.#inFlight = 0;
    }
  }

  async #writeReads(): Promise<void> {
    const due = this.#reads;
    this.#reads = this.#youngReads;
    this.#youngReads = [];
    for (let start = 0; start < due.length; start += BATCH_MAX) {
      await noteAskReads(this.#options.store.db, due.slice(start, start + BATCH_MAX));
    }
  }
}
