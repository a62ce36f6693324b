import { AppError } from '@rowcall/errors';
import type { Log } from '@rowcall/protocol';
import { insertEvents, type Store } from '@rowcall/store';
import { FailureLimit, toNetwork } from './failure-limit.js';

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
 * minute says how many there were, and their answers come slower the more there are. Wrong credentials beyond a limit are
 * refused at once. An address of IPv6 stands for its /64, which one caller has to itself.
 */
export class RefusalCounter {
  readonly #store: Store;
  readonly #log: Log;
  readonly #timer: NodeJS.Timeout;
  readonly #failures = new FailureLimit();
  #counts = new Map<string, number>();
  #held = 0;

  constructor({ store, log }: { store: Store; log: Log }) {
    this.#store = store;
    this.#log = log;
    this.#timer = setInterval(() => this.#flushSoon(), WINDOW_MS).unref();
  }

  /**
   * Counts one refusal and waits as long as its answer is to be held back.
   * @param triedCredential whether there was a credential, and it was wrong.
   * @throws AppError rate_limited, at once, for one wrong credential too many.
   */
  async add(address: string | undefined, triedCredential: boolean): Promise<void> {
    const network = toNetwork(address);
    const count = this.#count(network);
    if (triedCredential) this.#refuseTooMany(network);
    const delayMs = Math.min(DELAY_MAX_MS, Math.max(0, count - FREE) * DELAY_STEP_MS);
    if (delayMs === 0 || this.#held >= HELD_MAX) return;
    this.#held += 1;
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    this.#held -= 1;
  }

  #count(network: string): number {
    const name = this.#counts.has(network) || this.#counts.size < ADDRESSES_MAX ? network : 'other';
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    return count;
  }

  #refuseTooMany(network: string): void {
    const seconds = this.#failures.add(network);
    if (seconds === undefined) return;
    throw new AppError('rate_limited', 'too many wrong credentials came from this address', {
      details: { retry_after: seconds },
      fix: 'send a valid credential, which passes at any time, or wait for the seconds in Retry-After',
    });
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
      const events = [...counts].map(([address, count]) => ({
        kind: 'UNAUTHORIZED',
        actor: 'anonymous',
        reason: 'unauthorized',
        detail: { address, count },
      }));
      await insertEvents(this.#store.db, events);
    } catch (error) {
      for (const [address, count] of counts) this.#counts.set(address, count + (this.#counts.get(address) ?? 0));
      throw error;
    }
  }

  #flushSoon(): void {
    this.flush().catch((error: unknown) => this.#log.warn({ err: error }, 'refusals could not be written'));
  }
}
