import { Embeddings } from './embeddings.js';
import { FIELDS } from './weights.js';
import { toBytes, toUnit, type WordVectors } from './word-vectors.js';

/** What rows mean, as vectors made of those of their words. */
export class Meanings {
  readonly #words: WordVectors;
  readonly #rows = new Embeddings();

  constructor(words: WordVectors) {
    this.#words = words;
  }

  /** @param fields the terms of each of {@link FIELDS}. A row without a known word has no meaning here. */
  set(document: number, fields: readonly (readonly string[])[]): void {
    const sum = new Float32Array(this.#words.dimensions);
    for (const [field, terms] of fields.entries()) {
      const weight = FIELDS[field]?.meaning ?? 0;
      if (weight === 0) continue;
      for (const term of terms) this.#words.addTo(sum, term, weight);
    }
    const unit = toUnit(sum);
    if (unit === undefined) this.#rows.delete(document);
    else this.#rows.set(document, toBytes(unit));
  }

  delete(document: number): void {
    this.#rows.delete(document);
  }

  /** The vector of some terms, of unit length; undefined when none of them is known. */
  toVector(terms: readonly string[]): Float32Array | undefined {
    const sum = new Float32Array(this.#words.dimensions);
    for (const term of terms) this.#words.addTo(sum, term, 1);
    return toUnit(sum);
  }

  /** How near a row is to a vector, 0 to 1: what points away is as far as what has nothing to do with it. */
  nearness(document: number, vector: Float32Array | undefined): number {
    return vector === undefined ? 0 : Math.max(0, this.#rows.cosine(document, vector));
  }
}
