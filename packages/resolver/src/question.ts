import { QUESTION_LENGTH_MAX, toTerm, toWords } from './normalise.js';

/** Distinct terms of a question that count. */
export const TERMS_MAX = 64;
/** Clauses of a question; of more, the smallest go together with their neighbours. */
export const CLAUSES_MAX = 6;
/** Fewer terms say too little to be a request of their own. */
const CLAUSE_TERMS_MIN = 2;

/** A part of a question that may ask for something of its own. */
export interface Clause {
  readonly text: string;
  /** Its terms, by their place in the question's. */
  readonly terms: readonly number[];
}

/** A question as it is searched for. */
export interface Question {
  /** Distinct, in their order. */
  readonly terms: readonly string[];
  /** Those that hold terms, in their order; one at the least, if there is any term. */
  readonly clauses: readonly Clause[];
}

/** Ends of sentences, but no signs inside numbers and addresses; list commas; words that join two requests. */
const BOUNDARY =
  /\n+|[.?!;:]+(?=\s|$)|,\s+|\s(?:and|then|also|plus|additionally|finally|furthermore|moreover|next|afterwards|lastly)\s/i;

/** Reads a question; what is over {@link QUESTION_LENGTH_MAX} characters is cut off. */
export function parseQuestion(text: string): Question {
  const places = new Map<string, number>();
  const parts: Clause[] = [];
  for (const part of text.slice(0, QUESTION_LENGTH_MAX).split(BOUNDARY)) {
    const terms = placeTerms(part, places);
    if (terms.length > 0) parts.push({ text: part.trim(), terms });
  }
  return { terms: [...places.keys()], clauses: joinSmall(parts) };
}

/** The distinct terms of a part, by their places among all; those that are too many are left out. */
function placeTerms(part: string, places: Map<string, number>): number[] {
  const found = new Set<number>();
  for (const word of toWords(part)) {
    const term = toTerm(word);
    if (term === null) continue;
    if (!places.has(term) && places.size < TERMS_MAX) places.set(term, places.size);
    const place = places.get(term);
    if (place !== undefined) found.add(place);
  }
  return [...found];
}

/** Joins clauses that are too small, and the smallest of too many, with the smaller of their neighbours. */
function joinSmall(parts: readonly Clause[]): Clause[] {
  const clauses = [...parts];
  while (clauses.length > 1) {
    const at = smallestOf(clauses);
    const small = (clauses[at] as Clause).terms.length;
    if (clauses.length <= CLAUSES_MAX && small >= CLAUSE_TERMS_MIN) break;
    const size = (index: number) => clauses[index]?.terms.length ?? Number.POSITIVE_INFINITY;
    const first = size(at - 1) <= size(at + 1) ? at - 1 : at;
    clauses.splice(first, 2, join(clauses[first] as Clause, clauses[first + 1] as Clause));
  }
  return clauses;
}

function smallestOf(clauses: readonly Clause[]): number {
  let at = 0;
  for (const [index, { terms }] of clauses.entries()) {
    if (terms.length < (clauses[at] as Clause).terms.length) at = index;
  }
  return at;
}

const join = (a: Clause, b: Clause): Clause => ({
  text: `${a.text}, ${b.text}`,
  terms: [...new Set([...a.terms, ...b.terms])],
});
