import type { Log } from '@rowcall/protocol';
import type { Kysely } from 'kysely';
import {
  type EventFilter,
  findNewestEventId,
  listEventIds,
  listEvents,
  listEventWriters,
  type StoredEvent,
} from './event.js';
import type { Database } from './schema.js';

/** Events of one query. */
const PAGE = 200;
/** Events that are kept in memory for those who follow; who is further behind reads from the database. */
const RECENT_MAX = 200;
/** Ids that are compared when transactions are open at the start: one that was overtaken by more is not waited for. */
const START_WINDOW = 10_000;
/** How often, in ms, it is looked whether open transactions are over: soon at first, then less often. */
const HELD_FIRST_MS = 25;
const HELD_MAX_MS = 400;
const RETRY_MS = 250;

/** What has to be over before ids up to `upTo` that are missing can be taken for rolled back. */
interface Fence {
  readonly upTo: number;
  readonly writers: readonly string[];
}

/** Events in the order of their ids, and how far they reach: there is none between the last one and `position`. */
export interface EventsUpTo {
  readonly events: readonly StoredEvent[];
  readonly position: number;
}

/**
 * The events of a page that nothing can come before any more.
 * @param position everything up to it was taken.
 * @param settledTo no id up to it can still come; beyond it, only ids without a gap are taken.
 */
export function takeSettled(page: readonly StoredEvent[], position: number, settledTo: number): StoredEvent[] {
  let last = position;
  const end = page.findIndex(({ id }) => {
    if (id > Math.max(last, settledTo) + 1) return true;
    last = id;
    return false;
  });
  return page.slice(0, end === -1 ? undefined : end);
}

/**
 * Follows the table `event`: every event that is committed, once, in the order of ids, although transactions commit in
 * another order. An id that is missing before others holds those back until its transaction has committed, or until
 * every transaction that may hold it is over. Snapshots cannot tell that: their xmax is not above all transactions that
 * run, and their xmin waits for every transaction of the server.
 */
export class EventTail {
  readonly #db: Kysely<Database>;
  readonly #log: Log;
  readonly #listeners = new Set<() => void>();
  #beginning: number | undefined;
  #position: number | undefined;
  #settledTo = 0;
  #fence: Fence | undefined;
  /** The newest ids at the start, as long as it is open where the tail begins. */
  #firstSeen: ReadonlySet<number> = new Set();
  /** The last events up to `#position`, and the position before the first of them. */
  #recent: StoredEvent[] = [];
  #recentAfter = 0;
  #isTold = false;
  #isDue = false;
  #isRunning = false;
  #isStopped = false;
  #heldMs = HELD_FIRST_MS;
  #timer: NodeJS.Timeout | undefined;

  constructor({ db, log }: { db: Kysely<Database>; log: Log }) {
    this.#db = db;
    this.#log = log;
  }

  /** Where the tail begins: what comes after it was not committed when it was started. Undefined: not known yet. */
  get beginning(): number | undefined {
    return this.#beginning;
  }

  /** How far everything is known: the id of the last event that can be read here. Undefined: not known yet. */
  get position(): number | undefined {
    return this.#position;
  }

  /**
   * Finds where to begin: whatever is committed after this resolves will be read.
   * @throws what the database throws.
   */
  async start(): Promise<void> {
    const upTo = (await findNewestEventId(this.#db)) ?? 0;
    // After the id: whoever held a lower one then holds it still, or is over.
    const writers = await listEventWriters(this.#db);
    if (writers.length === 0) this.#begin(upTo);
    else this.#firstSeen = new Set(await listEventIds(this.#db, { after: upTo - START_WINDOW, upTo }));
    this.#fence = { upTo, writers };
    this.wake();
  }

  /** Ends everything; nobody is called after it. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#listeners.clear();
  }

  /** There may be new events. */
  wake(): void {
    this.#isTold = true;
    this.#runSoon();
  }

  /** Calls `listener` whenever {@link position} has become known or moved. @returns ends that. */
  onAdvance(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * The next events after an id, up to {@link position}; few or none when not known yet.
   * @throws what the database throws, for events that are not in memory any more.
   */
  async read(after: number, filter: EventFilter = {}): Promise<EventsUpTo> {
    const position = this.#position ?? 0;
    if (after >= position) return { events: [], position: after };
    if (after >= this.#recentAfter) {
      return { events: this.#recent.filter((event) => event.id > after && matches(event, filter)), position };
    }
    const events = await listEvents(this.#db, { ...filter, after, before: position + 1, limit: PAGE, order: 'asc' });
    return { events, position: events.length < PAGE ? position : (events.at(-1)?.id ?? position) };
  }

  #runSoon(): void {
    this.#isDue = true;
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#isDue && !this.#isStopped) {
      this.#isDue = false;
      clearTimeout(this.#timer);
      try {
        await this.#step();
      } catch (error) {
        if (this.#isStopped) break;
        this.#log.warn({ err: error }, 'events cannot be read yet');
        this.#isTold = true;
        this.#runIn(RETRY_MS);
      }
    }
    this.#isRunning = false;
  }

  async #step(): Promise<void> {
    if (this.#fence !== undefined) await this.#tryFence(this.#fence);
    const isTold = this.#isTold;
    this.#isTold = false;
    if (this.#position !== undefined && (isTold || this.#fence === undefined)) await this.#read(this.#position);
    if (this.#fence === undefined) {
      this.#heldMs = HELD_FIRST_MS;
    } else {
      this.#runIn(this.#heldMs);
      this.#heldMs = Math.min(this.#heldMs * 2, HELD_MAX_MS);
    }
  }

  /** In a statement of its own, before the events are read: who is over now is seen by every later statement. */
  async #tryFence({ writers, upTo }: Fence): Promise<void> {
    const open = writers.length === 0 ? [] : await listEventWriters(this.#db);
    if (writers.some((writer) => open.includes(writer))) return;
    if (this.#position === undefined) this.#begin(await this.#findBeginning(upTo));
    this.#settledTo = Math.max(this.#settledTo, upTo);
    this.#fence = undefined;
  }

  #begin(position: number): void {
    this.#beginning = position;
    this.#position = position;
    this.#recentAfter = position;
    this.#firstSeen = new Set();
    this.#tell();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Before the first event that was being written at the start, so that none is missing whose transaction was open. */
  async #findBeginning(upTo: number): Promise<number> {
    const ids = await listEventIds(this.#db, { after: upTo - START_WINDOW, upTo });
    const first = ids.find((id) => !this.#firstSeen.has(id));
    return first === undefined ? upTo : first - 1;
  }

  async #read(position: number): Promise<void> {
    const page = await listEvents(this.#db, { after: position, limit: PAGE, order: 'asc' });
    if (this.#isStopped) return;
    const events = takeSettled(page, position, this.#settledTo);
    const isWhole = events.length === page.length;
    const end = events.at(-1)?.id ?? position;
    this.#advance(events, isWhole && page.length < PAGE ? Math.max(end, this.#settledTo) : end);
    if (isWhole && page.length < PAGE) return;
    if (!isWhole) this.#fence ??= { upTo: page.at(-1)?.id ?? end, writers: await listEventWriters(this.#db) };
    if (isWhole || this.#fence?.writers.length === 0) this.wake();
  }

  #advance(events: readonly StoredEvent[], position: number): void {
    if (position === this.#position) return;
    this.#position = position;
    if (this.#fence !== undefined && position >= this.#fence.upTo) this.#fence = undefined;
    this.#recent.push(...events);
    const dropped = this.#recent.splice(0, Math.max(0, this.#recent.length - RECENT_MAX));
    this.#recentAfter = dropped.at(-1)?.id ?? this.#recentAfter;
    this.#tell();
  }

  #runIn(ms: number): void {
    clearTimeout(this.#timer);
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => this.#runSoon(), ms).unref();
  }
}

const matches = (event: StoredEvent, { kind, key, actor }: EventFilter): boolean =>
  (kind === undefined || event.kind === kind) &&
  (key === undefined || event.key === key) &&
  (actor === undefined || event.actor === actor);
