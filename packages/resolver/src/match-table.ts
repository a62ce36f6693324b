/** Parts of a question that scores are kept for apart. */
export const PARTS_MAX = 6;
/** Room beyond what is needed: one row more does not make all of it anew. */
const GROWTH = 1.2;
/** Questions that are told apart by number; then they begin anew. */
const QUESTIONS_MAX = 2 ** 31 - 1;

/**
 * What a question finds in an index, by the documents' numbers. Filled anew for each question; the memory stays. What
 * stands there of a document that {@link MatchTable.has} does not know is of an earlier question.
 * Scores are sums of weights of terms: divided by {@link MatchTable.weight} they compare between questions.
 */
export class MatchTable {
  /** Numbers of the documents that hold a term, in no order; the first {@link MatchTable.count} count. */
  documents = new Int32Array(0);
  count = 0;
  /** Weight of all terms of the question, those included that no document holds. */
  weight = 0;
  /** Weight of a term that no document holds: none weighs more. */
  unknownWeight = 0;
  /** Weight of all terms of each part. */
  readonly partWeights = new Float64Array(PARTS_MAX);
  /** BM25F of each document. */
  totals = new Float64Array(0);
  /** The same by part: `document * PARTS_MAX + part`. */
  parts = new Float32Array(0);
  /** Weight of the terms that each document holds, however often and wherever. */
  covered = new Float32Array(0);
  /** Weight of the rarest term that each document holds. */
  rarest = new Float32Array(0);
  /** How many of the question's terms stand in each document's first field. */
  firstFieldHits = new Uint8Array(0);
  /** The term that was last counted for each document, and how much it was. */
  #lastTerm = new Int32Array(0);
  #lastScore = new Float64Array(0);
  /** The question that each document was last found for. */
  #foundFor = new Int32Array(0);
  #question = 0;

  /** Forgets the last question and makes room for `size` documents. */
  clear(size: number): void {
    // What the last question left of a document is cleared when the document is found again.
    this.#question += 1;
    this.count = 0;
    this.weight = 0;
    this.partWeights.fill(0);
    if (size > this.#foundFor.length || this.#question === QUESTIONS_MAX)
      this.#grow(Math.max(Math.ceil(size * GROWTH), 1_024));
  }

  /** Whether a document holds a term of the question. */
  has(document: number): boolean {
    return this.#foundFor[document] === this.#question;
  }

  /**
   * Counts a term for a document. Of a term and those that stand for it the most counts, and not their sum: they must come
   * one after the other.
   * @param place the term's number, from 1.
   * @param parts the parts of the question that it stands in, a bit for each.
   */
  addScore(document: number, place: number, parts: number, score: number): void {
    if (this.#foundFor[document] !== this.#question) this.#begin(document);
    const before = this.#lastTerm[document] === place ? (this.#lastScore[document] as number) : 0;
    if (score <= before) return;
    this.#lastTerm[document] = place;
    this.#lastScore[document] = score;
    const more = score - before;
    this.totals[document] = (this.totals[document] as number) + more;
    for (let at = document * PARTS_MAX, rest = parts; rest !== 0; at += 1, rest >>>= 1) {
      if ((rest & 1) === 1) this.parts[at] = (this.parts[at] as number) + more;
    }
  }

  #begin(document: number): void {
    this.#foundFor[document] = this.#question;
    this.documents[this.count] = document;
    this.count += 1;
    this.totals[document] = 0;
    for (let at = document * PARTS_MAX; at < (document + 1) * PARTS_MAX; at += 1) this.parts[at] = 0;
    this.covered[document] = 0;
    this.rarest[document] = 0;
    this.firstFieldHits[document] = 0;
    this.#lastTerm[document] = 0;
  }

  #grow(size: number): void {
    this.documents = new Int32Array(size);
    this.totals = new Float64Array(size);
    this.parts = new Float32Array(size * PARTS_MAX);
    this.covered = new Float32Array(size);
    this.rarest = new Float32Array(size);
    this.firstFieldHits = new Uint8Array(size);
    this.#lastTerm = new Int32Array(size);
    this.#lastScore = new Float64Array(size);
    this.#foundFor = new Int32Array(size);
    this.#question = 1;
  }
}
