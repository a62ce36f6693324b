import { AppError, type ErrorCode } from '@rowcall/errors';
import {
  type Beginning,
  beginCallIn,
  beginCalls,
  type Failures,
  Gather,
  isTransient,
  isUnregistered,
  NO_FAILURES,
  type Store,
  type Verdict,
} from '@rowcall/store';

/** Characters of calls that are begun in one statement. */
const CHARACTERS_MAX = 8 * 1024 * 1024;

/** What {@link Openings} work with. */
export interface OpeningsOptions {
  readonly store: Store;
  /** Registers this process anew after it was declared dead. */
  readonly register: () => Promise<void>;
}

/**
 * Begins the calls that may not just fire: those that take from a grant, that have an Idempotency-Key, or that change
 * the world. Those of concurrent calls are begun together, in one durable statement.
 */
export class Openings {
  readonly #options: OpeningsOptions;
  readonly #verdicts = new Map<string, Verdict>();
  /** How many hold a call: of two that begin one at once, the one that may not must not let go of the other's. */
  readonly #held = new Map<string, number>();
  readonly #gather: Gather<Beginning>;

  constructor(options: OpeningsOptions) {
    this.#options = options;
    this.#gather = new Gather({
      inFlightMax: 2,
      batchMax: 500,
      weight: { of: ({ opened }) => opened?.record.payload.request.length ?? 0, max: CHARACTERS_MAX },
      flush: (beginnings) => this.#halve(beginnings),
    });
  }

  /** Says that this process will end a call which is about to be opened. */
  hold(id: string): void {
    this.#held.set(id, (this.#held.get(id) ?? 0) + 1);
  }

  /** Says that it has ended, or that nobody will end it: then it is found to be open and is given up. */
  letGo(id: string): void {
    const holders = (this.#held.get(id) ?? 1) - 1;
    if (holders === 0) this.#held.delete(id);
    else this.#held.set(id, holders);
  }

  isHeld(id: string): boolean {
    return this.#held.has(id);
  }

  /**
   * Begins a call. @returns false when another call has its Idempotency-Key: this one must not fire.
   * @throws AppError what keeps it from beginning; ledger_unavailable when it is not known whether it began.
   */
  async begin(beginning: Beginning): Promise<boolean> {
    try {
      await this.#gather.add(beginning);
    } catch (error) {
      throw new AppError('ledger_unavailable', 'the call could not be opened; nothing was run', { cause: error });
    }
    const verdict = this.#verdicts.get(beginning.id);
    this.#verdicts.delete(beginning.id);
    return isBegun(verdict);
  }

  /** Tells whether a call could begin now, by what would begin it, and takes nothing. @throws AppError as `begin`. */
  async requireLeft(beginning: Beginning): Promise<void> {
    const tx = await this.#options.store.db.startTransaction().execute();
    try {
      isBegun(await beginCallIn(tx, beginning));
    } finally {
      await tx.rollback().execute();
    }
  }

  async #begin(beginnings: readonly Beginning[]): Promise<ReadonlyMap<string, Verdict>> {
    try {
      return await beginCalls(this.#options.store.pool, beginnings);
    } catch (error) {
      if (!isUnregistered(error)) throw error;
      await this.#options.register();
      return beginCalls(this.#options.store.pool, beginnings);
    }
  }

  /** A call that Postgres refuses must not take the others of its batch along. What it refuses has changed nothing. */
  async #halve(beginnings: readonly Beginning[]): Promise<Failures<Beginning>> {
    try {
      for (const [id, verdict] of await this.#begin(beginnings)) this.#verdicts.set(id, verdict);
      return NO_FAILURES;
    } catch (error) {
      const isWhole = beginnings.length === 1 || isTransient(error);
      if (isWhole) return new Map(beginnings.map((beginning) => [beginning, error]));
      const half = beginnings.length >> 1;
      const lower = await this.#halve(beginnings.slice(0, half));
      return new Map([...lower, ...(await this.#halve(beginnings.slice(half)))]);
    }
  }
}

const MESSAGES = {
  expired: 'the grant has expired',
  revoked: 'the grant was revoked',
  rate_limited: 'the grant allows no more calls in this minute',
  budget_exhausted: 'the call would cost more than is left of the grant’s budget',
  token_exhausted: 'every use of the grant is used up',
} as const satisfies Partial<Record<Exclude<Verdict['verdict'], 'begun' | 'repeated'>, string>>;

/** @returns whether the call has begun; false when it is a repetition. @throws AppError for every other verdict. */
export function isBegun(given: Verdict | undefined): boolean {
  if (given === undefined) throw new Error('the call was given no verdict');
  const { verdict, retryAfter } = given;
  if (verdict === 'begun' || verdict === 'repeated') return verdict === 'begun';
  const seconds = Math.max(1, retryAfter ?? 1);
  throw new AppError(verdict satisfies ErrorCode, MESSAGES[verdict], {
    ...(verdict === 'rate_limited' ? { details: { retry_after: seconds }, fix: `send again in ${seconds} s` } : {}),
  });
}
