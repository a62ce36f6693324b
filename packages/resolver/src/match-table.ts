/** Parts of a question that scores are kept for apart. */
export const PARTS_MAX = 6;

/**
 * What a question finds in an index, by the documents' numbers. Filled anew for each question; the memory stays.
 * Scores are sums of weights of terms: divided by {@link MatchTable.weight} they compare between questions.
 */
export class MatchTable {
  /** Numbers of the documents that hold a term, in no order; the first {@link MatchTable.count} count. */
  documents = new Int32Array(0);
  count = 0;
  /** Weight of all terms of the question, those included that no document holds. */
  weight = 0;
  /** The same for each part. */
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
  /** 1 for each of {@link MatchTable.documents}. */
  #found = new Uint8Array(0);

  /** Forgets the last question and makes room for `size` documents. */
  clear(size: number): void {
    for (let index = 0; index < this.count; index += 1) this.#forget(this.documents[index] as number);
    this.count = 0;
    this.weight = 0;
    this.partWeights.fill(0);
    if (size > this.#found.length) this.#grow(size * 2);
  }

  /** Adds a document; one that is there already stays once. */
  add(document: number): void {
    if (this.#found[document] === 1) return;
    this.#found[document] = 1;
    this.documents[this.count] = document;
    this.count += 1;
  }

  #forget(document: number): void {
    this.#found[document] = 0;
    this.totals[document] = 0;
    this.parts.fill(0, document * PARTS_MAX, (document + 1) * PARTS_MAX);
    this.covered[document] = 0;
    this.rarest[document] = 0;
    this.firstFieldHits[document] = 0;
  }

  #grow(size: number): void {
    this.documents = new Int32Array(size);
    this.totals = new Float64Array(size);
    this.parts = new Float32Array(size * PARTS_MAX);
    this.covered = new Float32Array(size);
    this.rarest = new Float32Array(size);
    this.firstFieldHits = new Uint8Array(size);
    this.#found = new Uint8Array(size);
  }
}
