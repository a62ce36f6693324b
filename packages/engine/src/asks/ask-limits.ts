import { ANYONE } from '@rowcall/store';

const WINDOW_MS = 60_000;
/** Asks of one caller in a minute that are kept. */
const CALLER_MAX = 600;
/** The same of one address, where the caller presented no credential, and of all such callers together. */
const ADDRESS_MAX = 60;
const ANYONE_MAX = 120;
/** Callers that are told apart in a minute; those beyond it are counted together. */
const CALLERS_MAX = 10_000;
const OTHERS = 'other';

/** Who asks. */
export interface AskedBy {
  /** As receipts name actors; {@link ANYONE} for who presented no credential. */
  readonly actor: string;
  /** What tells callers without a credential apart. */
  readonly address?: string | undefined;
}

/** One name for a caller. */
export const toAskerName = ({ actor, address = '' }: AskedBy): string =>
  actor === ANYONE ? `${ANYONE} ${address}` : actor;

/**
 * Bounds what asks may cost a process, by the minute: those that it keeps, and those that it has vectors computed for.
 * Whoever presents no credential shares a small number: with a retention of 30 days, they can make a process keep five
 * million asks, and no more.
 */
export class AskLimits {
  readonly #now: () => number;
  #until = 0;
  #anyone = 0;
  readonly #counts = new Map<string, number>();

  /** @param now milliseconds; a clock that is set back makes a minute longer. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Counts an ask. @returns whether it is within the bounds. */
  admit(by: AskedBy): boolean {
    this.#turn();
    const isAnyone = by.actor === ANYONE;
    if (isAnyone && this.#anyone >= ANYONE_MAX) return false;
    const given = toAskerName(by);
    const name = this.#counts.has(given) || this.#counts.size < CALLERS_MAX ? given : OTHERS;
    const count = this.#counts.get(name) ?? 0;
    if (count >= (isAnyone ? ADDRESS_MAX : CALLER_MAX)) return false;
    this.#counts.set(name, count + 1);
    if (isAnyone) this.#anyone += 1;
    return true;
  }

  #turn(): void {
    const now = this.#now();
    if (now < this.#until) return;
    this.#until = now + WINDOW_MS;
    this.#anyone = 0;
    this.#counts.clear();
  }
}
