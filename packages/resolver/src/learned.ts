import { parseQuestion, type Question } from './question.js';

/** A question and a row that was called after it. */
export interface LearnedPair {
  readonly question: string;
  readonly key: string;
  /** How often. */
  readonly count: number;
}

/** A question of 500 characters takes up to half a millisecond. */
const PAIRS_PER_TURN = 20;

/** The same whatever the order and the noise of a question: its terms. */
const toName = ({ terms }: Question): string => [...terms].sort().join(' ');

/** Which rows were called after which questions. */
export class Learned {
  readonly #calls = new Map<string, Map<string, number>>();

  /** Reads the questions, some at a time. @param nextTurn waits until others have had their turn. */
  static async of(pairs: readonly LearnedPair[], nextTurn: () => Promise<unknown>): Promise<Learned> {
    const learned = new Learned();
    for (const [place, pair] of pairs.entries()) {
      learned.#add(pair);
      if (place % PAIRS_PER_TURN === PAIRS_PER_TURN - 1) await nextTurn();
    }
    for (const calls of learned.#calls.values()) toShares(calls);
    return learned;
  }

  /** The share of calls of each row that was called after such a question; undefined when there was none. */
  find(question: Question): ReadonlyMap<string, number> | undefined {
    return this.#calls.size === 0 ? undefined : this.#calls.get(toName(question));
  }

  #add({ question, key, count }: LearnedPair): void {
    const name = toName(parseQuestion(question));
    if (name === '') return;
    const calls = this.#calls.get(name) ?? new Map<string, number>();
    this.#calls.set(name, calls.set(key, (calls.get(key) ?? 0) + count));
  }
}

function toShares(calls: Map<string, number>): void {
  const all = [...calls.values()].reduce((sum, count) => sum + count, 0);
  for (const [key, count] of calls) calls.set(key, count / all);
}
