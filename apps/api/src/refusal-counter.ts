import type { Log } from '@rowcall/protocol';
import { insertEvent, type Store } from '@rowcall/store';

const WINDOW_MS = 60_000;
/** Addresses that are told apart in one window; those beyond it are counted together. */
const ADDRESSES_MAX = 10_000;
/** Refusals that an address has free before its answers are slowed down. */
const FREE = 5;
const DELAY_STEP_MS = 50;
const DELAY_MAX_MS = 2_000;
/** Refusals that may be held back at the same time: a flood must not fill the memory with waiting answers. */
const HELD_MAX = 200;

/**
 * Counts callers without a valid credential, per address and minute. They leave no receipt: an event per address and
 * minute says how many there were, and their answers come slower the more there are.
 */
export class RefusalCounter {
  readonly #store: Store;
  readonly #log: Log;
  readonly #timer: NodeJS.Timeout;
  #counts = new Map<string, number>();
  #held = 0;

  constructor({ store, log }: { store: Store; log: Log }) {
    this.#store = store;
    this.#log = log;
    this.#timer = setInterval(() => this.#flushSoon(), WINDOW_MS).unref();
  }

  /** Counts one refusal and waits as long as its answer is to be held back. */
  async add(address: string): Promise<void> {
    const name = this.#counts.has(address) || this.#counts.size < ADDRESSES_MAX ? address : 'other';
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    const delayMs = Math.min(DELAY_MAX_MS, Math.max(0, count - FREE) * DELAY_STEP_MS);
    if (delayMs === 0 || this.#held >= HELD_MAX) return;
    this.#held += 1;
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    this.#held -= 1;
  }

  /** Writes what was counted and stops counting. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush().catch((error: unknown) => this.#log.warn({ err: error }, 'refusals could not be written'));
  }

  /** Writes one event per address and begins a new window. What cannot be written is counted on. */
  async flush(): Promise<void> {
    const counts = this.#counts;
    this.#counts = new Map();
    try {
      for (const [address, count] of counts) {
        await insertEvent(this.#store.db, { kind: 'UNAUTHORIZED', actor: 'anonymous', detail: { address, count } });
        counts.delete(address);
      }
    } catch (error) {
      for (const [address, count] of counts) this.#counts.set(address, count + (this.#counts.get(address) ?? 0));
      throw error;
    }
  }

  #flushSoon(): void {
    this.flush().catch((error: unknown) => this.#log.warn({ err: error }, 'refusals could not be written'));
  }
}
