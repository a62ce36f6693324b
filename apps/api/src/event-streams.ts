import { AppError } from '@rowcall/errors';
import type { Log } from '@rowcall/protocol';
import { EVENT_CHANNEL, type EventFilter, EventTail, type Store, type Subscription } from '@rowcall/store';
import { EventStream } from './event-stream.js';

/** Streams that a process holds open at the most. */
const STREAMS_MAX = 200;
/** Seconds after which a caller that found no room may try again. */
const RETRY_AFTER_SECONDS = 5;

/** A tail, and whether it has begun. */
interface Following {
  readonly tail: EventTail;
  readonly started: Promise<void>;
}

/** The event streams of a process. They share one tail of the table, which runs as long as there is a stream. */
export class EventStreams {
  readonly #store: Store;
  readonly #log: Log;
  readonly #streamsMax: number;
  readonly #open = new Set<EventStream>();
  /** Streams that are open or being opened. */
  #size = 0;
  #following: Following | undefined;
  #isStopped = false;

  /** @param options.streamsMax streams at the most; 200 when not given. */
  constructor(options: { store: Store; log: Log; streamsMax?: number }) {
    this.#store = options.store;
    this.#log = options.log;
    this.#streamsMax = options.streamsMax ?? STREAMS_MAX;
  }

  /** What the process's listener has to deliver here. */
  get subscription(): Subscription {
    const wake = () => this.#following?.tail.wake();
    return { channel: EVENT_CHANNEL, onNotification: wake, onConnected: async () => wake() };
  }

  /** Streams that are open or being opened. */
  get size(): number {
    return this.#size;
  }

  /** Whether the table is being followed. */
  get isFollowing(): boolean {
    return this.#following !== undefined;
  }

  /**
   * Opens a stream: nothing that is committed after this resolves is missing in it. It frees what it holds when it ends
   * or is destroyed.
   * @throws AppError too_many_streams, shutting_down; what the database throws.
   */
  async open({ filter, after }: { filter: EventFilter; after: number | undefined }): Promise<EventStream> {
    this.#admit();
    this.#size += 1;
    try {
      const tail = await this.#join();
      this.#refuseWhenStopped();
      const stream = new EventStream({ tail, filter, after, log: this.#log });
      this.#open.add(stream);
      stream.once('close', () => {
        this.#open.delete(stream);
        this.#leave();
      });
      return stream;
    } catch (error) {
      this.#leave();
      throw error;
    }
  }

  /** Ends all streams and opens no other. May be called twice. */
  stop(): void {
    this.#isStopped = true;
    for (const stream of this.#open) stream.finish();
  }

  #admit(): void {
    this.#refuseWhenStopped();
    if (this.#size < this.#streamsMax) return;
    throw new AppError('too_many_streams', `${this.#streamsMax} event streams are open`, {
      details: { retry_after: RETRY_AFTER_SECONDS },
    });
  }

  #refuseWhenStopped(): void {
    if (this.#isStopped) throw new AppError('shutting_down', 'the server is stopping');
  }

  async #join(): Promise<EventTail> {
    this.#following ??= this.#follow();
    const following = this.#following;
    try {
      await following.started;
    } catch (error) {
      this.#drop(following);
      throw error;
    }
    return following.tail;
  }

  #follow(): Following {
    const tail = new EventTail({ db: this.#store.db, log: this.#log });
    return { tail, started: tail.start() };
  }

  #leave(): void {
    this.#size -= 1;
    if (this.#size === 0 && this.#following !== undefined) this.#drop(this.#following);
  }

  #drop(following: Following): void {
    following.tail.stop();
    if (this.#following === following) this.#following = undefined;
  }
}
