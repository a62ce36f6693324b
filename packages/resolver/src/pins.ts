import { toWords } from './normalise.js';

const toPhrase = (text: string): string => toWords(text).join(' ');

/** Questions that must lead to a row, however they are written. */
export class Pins {
  readonly #keys = new Map<string, Set<string>>();
  readonly #phrases = new Map<string, readonly string[]>();

  /** Takes the questions of a row that has none. */
  add(key: string, questions: readonly string[]): void {
    if (questions.length === 0) return;
    const phrases = questions.map(toPhrase);
    this.#phrases.set(key, phrases);
    for (const phrase of phrases) this.#keys.set(phrase, (this.#keys.get(phrase) ?? new Set()).add(key));
  }

  /** Takes the questions of a row away; a row that has none is fine. */
  delete(key: string): void {
    for (const phrase of this.#phrases.get(key) ?? []) {
      const keys = this.#keys.get(phrase);
      keys?.delete(key);
      if (keys?.size === 0) this.#keys.delete(phrase);
    }
    this.#phrases.delete(key);
  }

  /** Keys of the rows that a question must lead to. */
  find(question: string): string[] {
    return [...(this.#keys.get(toPhrase(question)) ?? [])];
  }
}
