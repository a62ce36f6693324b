import type { NewAsk } from '@rowcall/store';
import { type AskedBy, toAskerName } from './ask-limits.js';

/** For so long, in ms, the same question of the same caller is one ask. */
const SAME_MS = 60_000;
/** Asks that are remembered for it; beyond it the oldest are forgotten. */
const RECENT_MAX = 10_000;

interface Recent {
  readonly ask: NewAsk;
  /** Milliseconds. */
  readonly until: number;
}

/** Remembers what was asked in the last minute, so that who asks the same again and is answered the same adds no row. */
export class RecentAsks {
  readonly #now: () => number;
  /** In the order of their ends. */
  readonly #asks = new Map<string, Recent>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The ask that this one repeats; undefined for a new question, and for one that is answered otherwise now. */
  find(by: AskedBy, question: string, keys: readonly string[]): NewAsk | undefined {
    this.#dropOver();
    const known = this.#asks.get(toName(by, question))?.ask;
    return known !== undefined && isSame(known.keys, keys) ? known : undefined;
  }

  add(by: AskedBy, ask: NewAsk): void {
    const name = toName(by, ask.question);
    this.#asks.delete(name);
    const [oldest] = this.#asks.keys();
    if (oldest !== undefined && this.#asks.size >= RECENT_MAX) this.#asks.delete(oldest);
    this.#asks.set(name, { ask, until: this.#now() + SAME_MS });
  }

  #dropOver(): void {
    for (const [name, { until }] of this.#asks) {
      if (until > this.#now()) return;
      this.#asks.delete(name);
    }
  }
}

const toName = (by: AskedBy, question: string): string => `${toAskerName(by)}\n${question}`;

const isSame = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((key, index) => key === b[index]);
