import { Readable } from 'node:stream';
import type { Log } from '@rowcall/protocol';
import type { EventFilter, EventTail, StoredEvent } from '@rowcall/store';

/** How long, in ms, a client is to wait before it connects again. */
const RECONNECT_MS = 2_000;
/** How often, in ms, a silent stream says that it lives, so that no proxy takes it for dead. */
const KEEP_ALIVE_MS = 15_000;
/** Keep-alives that a client may be behind: one that takes nothing for longer is cut. */
const STALLED_MAX = 2;
/** Bytes that wait for a slow client; what comes after them stays where it is until there is room. */
const WAITING_BYTES = 64 * 1024;

/** What a stream needs of a tail. */
export type Followed = Pick<EventTail, 'beginning' | 'position' | 'onAdvance' | 'read'>;

/** What an {@link EventStream} sends. */
export interface EventStreamOptions {
  readonly tail: Followed;
  readonly filter: EventFilter;
  /** Id of the last event that the client has; undefined: it begins with what is written from now on. */
  readonly after: number | undefined;
  readonly log: Log;
}

/** One event as server-sent event (WHATWG HTML, section 9.2). JSON has no line breaks of its own. */
function toFrame(event: StoredEvent): string {
  const { id, at, kind, actor, key, reason, detail } = event;
  const data = JSON.stringify({ id, at, kind, actor, key, reason, detail });
  return `id: ${id}\nevent: ${kind.replace(/[\r\n\0]+/g, ' ')}\ndata: ${data}\n\n`;
}

/**
 * The events after an id as one endless text: history first, then each as it comes, in order and once. It takes events
 * from the tail as fast as the client reads, so that a slow one costs no memory, and one that stands still is cut.
 */
export class EventStream extends Readable {
  readonly #options: EventStreamOptions;
  readonly #leaveTail: () => void;
  readonly #timer: NodeJS.Timeout;
  #cursor: number | undefined;
  #isWanted = false;
  #isDue = false;
  #isPulling = false;
  #isOver = false;
  #stalled = 0;

  constructor(options: EventStreamOptions) {
    super({ highWaterMark: WAITING_BYTES });
    const { tail, after } = options;
    this.#options = options;
    this.#cursor = after ?? tail.position;
    this.#leaveTail = tail.onAdvance(() => this.#pullSoon());
    this.#timer = setInterval(() => this.#tick(), KEEP_ALIVE_MS).unref();
    this.push(`retry: ${RECONNECT_MS}\n\n`);
  }

  /** Ends the stream in order, or at once for a client that does not read. */
  finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#isWanted && this.readableFlowing === true) this.push(null);
    else this.destroy();
  }

  override _read(): void {
    this.#isWanted = true;
    this.#stalled = 0;
    this.#pullSoon();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#isOver = true;
    clearInterval(this.#timer);
    this.#leaveTail();
    callback(error);
  }

  #pullSoon(): void {
    this.#isDue = true;
    if (!this.#isPulling) void this.#pull();
  }

  async #pull(): Promise<void> {
    this.#isPulling = true;
    while (this.#isDue && this.#isWanted && !this.#isOver) {
      this.#isDue = false;
      try {
        this.#isDue = (await this.#sendNext()) || this.#isDue;
      } catch (error) {
        // Not the end: a browser does not come back to a server that refuses it. The next tick tries again.
        this.#options.log.warn({ err: error }, 'events of a stream cannot be read yet');
      }
    }
    this.#isPulling = false;
  }

  /** @returns whether there may be more. */
  async #sendNext(): Promise<boolean> {
    const { tail, filter } = this.#options;
    const cursor = this.#cursor ?? tail.beginning;
    if (cursor === undefined) return false;
    this.#cursor = cursor;
    const { events, position } = await tail.read(cursor, filter);
    for (const event of events) {
      if (this.#isOver) return false;
      this.#cursor = event.id;
      if (!this.#send(toFrame(event))) return true;
    }
    this.#cursor = position;
    return position > cursor;
  }

  #send(text: string): boolean {
    this.#isWanted = this.push(text);
    return this.#isWanted;
  }

  #tick(): void {
    if (this.#isWanted) {
      this.#send(': keep-alive\n\n');
      this.#pullSoon();
      return;
    }
    this.#stalled += 1;
    if (this.#stalled < STALLED_MAX) return;
    this.#options.log.info({ after: this.#cursor }, 'a client of the event stream took nothing and is cut');
    this.destroy();
  }
}
