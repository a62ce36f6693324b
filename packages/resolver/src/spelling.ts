/** Shorter words are too near to one another. */
const LENGTH_MIN = 5;
const LENGTH_MAX = 24;
/** Terms that are looked at for one word. */
const COMPARED_MAX = 4_000;
/** Terms of one word that it may have been meant for. */
const FOUND_MAX = 3;
const LETTERS = /^[a-z]+$/;

/** Terms by first letter and length: what a misspelt word was meant for is found among few. */
export class Spelling {
  readonly #terms = new Map<string, Set<string>>();

  add(term: string): void {
    if (!isSpelt(term)) return;
    const name = toName(term, 0);
    const terms = this.#terms.get(name) ?? new Set<string>();
    this.#terms.set(name, terms.add(term));
  }

  delete(term: string): void {
    const name = toName(term, 0);
    const terms = this.#terms.get(name);
    terms?.delete(term);
    if (terms?.size === 0) this.#terms.delete(name);
  }

  /** Terms that a word is one slip away from: a letter more, less or other, or two changed about; not in the first letter. */
  find(word: string): string[] {
    if (!isSpelt(word)) return [];
    const found: string[] = [];
    let compared = 0;
    for (const more of [0, 1, -1]) {
      const near: string[] = [];
      for (const term of this.#terms.get(toName(word, more)) ?? []) {
        compared += 1;
        if (compared > COMPARED_MAX) break;
        if (isOneSlip(word, term)) near.push(term);
      }
      // By name: which of many are taken must not depend on which row was written first.
      found.push(...near.sort());
    }
    return found.slice(0, FOUND_MAX);
  }
}

const isSpelt = (term: string): boolean => term.length >= LENGTH_MIN && term.length <= LENGTH_MAX && LETTERS.test(term);
const toName = (term: string, more: number): string => `${term[0]}${term.length + more}`;

/** Whether two different words become equal by one insertion, deletion, substitution or swap of neighbours. */
function isOneSlip(a: string, b: string): boolean {
  let start = 0;
  while (start < a.length && a[start] === b[start]) start += 1;
  let endA = a.length;
  let endB = b.length;
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) {
    endA -= 1;
    endB -= 1;
  }
  const [restA, restB] = [endA - start, endB - start];
  if (restA <= 1 && restB <= 1) return true;
  return restA === 2 && restB === 2 && a[start] === b[start + 1] && a[start + 1] === b[start];
}
