import { parseQuestion, type Question } from './question.js';

/** A question and a row that was called after it. */
export interface LearnedPair {
  readonly question: string;
  readonly key: string;
  /** How often. */
  readonly count: number;
}

/** The same whatever the order and the noise of a question: its terms. */
const toName = ({ terms }: Question): string => [...terms].sort().join(' ');

/** Which rows were called after which questions. */
export class Learned {
  readonly #calls = new Map<string, Map<string, number>>();
  /** Of each question as it was asked: to read one takes longer than all else here. */
  readonly #names = new Map<string, string>();

  /** @param before what was known before: of its questions none is read again. */
  constructor(pairs: readonly LearnedPair[], before?: Learned) {
    for (const { question, key, count } of pairs) {
      const known = before === undefined ? undefined : before.#names.get(question);
      const name = known ?? toName(parseQuestion(question));
      this.#names.set(question, name);
      if (name === '') continue;
      const calls = this.#calls.get(name) ?? new Map<string, number>();
      this.#calls.set(name, calls.set(key, (calls.get(key) ?? 0) + count));
    }
    for (const calls of this.#calls.values()) toShares(calls);
  }

  /** The share of calls of each row that was called after such a question; undefined when there was none. */
  find(question: Question): ReadonlyMap<string, number> | undefined {
    return this.#calls.size === 0 ? undefined : this.#calls.get(toName(question));
  }
}

function toShares(calls: Map<string, number>): void {
  const all = [...calls.values()].reduce((sum, count) => sum + count, 0);
  for (const [key, count] of calls) calls.set(key, count / all);
}
