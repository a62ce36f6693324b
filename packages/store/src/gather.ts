/** The items of a flush that failed, each with its error. */
export type Failures<Item> = ReadonlyMap<Item, unknown>;

/** What a flush returns when every item went through. */
export const NO_FAILURES: Failures<never> = new Map<never, unknown>();

/** How a {@link Gather} works. */
export interface GatherOptions<Item> {
  /** Does the work for all items at once. Returns the items that failed; when it rejects, all did. */
  readonly flush: (items: readonly Item[]) => Promise<Failures<Item>>;
  /** Flushes at the same time, at the most. */
  readonly inFlightMax: number;
  /** Items in one flush, at the most. */
  readonly batchMax: number;
  /**
   * So many items are flushed at once where a flush may begin, without waiting for the end of the turn: the database
   * works on them while the rest of the turn is read. Never when not given.
   */
  readonly earlyAt?: number;
  /** Bounds a flush by size: it ends before the item that would take it over `max`. An item alone may weigh more. */
  readonly weight?: { readonly of: (item: Item) => number; readonly max: number };
}

/** Told once how an item ended: without an error when its flush went through. */
export type Settle = (error?: unknown) => void;

interface Waiting<Item> {
  readonly item: Item;
  readonly settle: Settle;
}

/**
 * Gathers items that come in at the same time into one piece of work. There is no timer: an item that comes alone is
 * flushed in the same turn of the event loop; while flushes are in flight, the next batch gathers behind them.
 */
export class Gather<Item> {
  readonly #options: GatherOptions<Item>;
  #waiting: Waiting<Item>[] = [];
  #inFlight = 0;
  #scheduled = false;

  constructor(options: GatherOptions<Item>) {
    this.#options = options;
  }

  /** Items that are not in a flush yet. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** @returns when the flush that holds the item is done. */
  add(item: Item): Promise<void> {
    return new Promise((resolve, reject) => {
      this.push(item, (error) => (error === undefined ? resolve() : reject(error)));
    });
  }

  /** Adds an item without a promise, for a caller that makes one of its own. */
  push(item: Item, settle: Settle): void {
    this.#waiting.push({ item, settle });
    this.#schedule();
  }

  #schedule(): void {
    if (this.#inFlight >= this.#options.inFlightMax) return;
    if (this.#waiting.length >= (this.#options.earlyAt ?? Number.POSITIVE_INFINITY)) this.#start();
    else this.#startAtEndOfTurn();
  }

  // setImmediate runs after all sockets of this turn were read: their calls share the flush.
  #startAtEndOfTurn(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      // An early flush may have taken all that waited, or the last place.
      if (this.#waiting.length > 0 && this.#inFlight < this.#options.inFlightMax) this.#start();
    });
  }

  #start(): void {
    const batch = this.#waiting.splice(0, this.#batchLength());
    this.#inFlight += 1;
    this.#options
      .flush(batch.map((waiting) => waiting.item))
      .then(
        (failures) => {
          for (const { item, settle } of batch) settle(failures.get(item));
        },
        (error) => {
          for (const { settle } of batch) settle(error ?? new Error('the flush failed'));
        },
      )
      .finally(() => {
        this.#inFlight -= 1;
        if (this.#waiting.length > 0) this.#schedule();
      });
    if (this.#waiting.length > 0) this.#schedule();
  }

  /** How many of those that wait go into the next flush. */
  #batchLength(): number {
    const { batchMax, weight } = this.#options;
    const length = Math.min(batchMax, this.#waiting.length);
    if (weight === undefined) return length;
    let sum = 0;
    for (let index = 0; index < length; index += 1) {
      const waiting = this.#waiting[index];
      sum += waiting === undefined ? 0 : weight.of(waiting.item);
      if (sum > weight.max) return Math.max(index, 1);
    }
    return length;
  }
}
