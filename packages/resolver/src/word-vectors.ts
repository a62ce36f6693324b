/** Vectors of words, by the terms that they are indexed under: what is near in meaning is near in direction. */
export class WordVectors {
  readonly dimensions: number;
  readonly #places = new Map<string, number>();
  readonly #bytes: Int8Array;
  readonly #scales: Float32Array;

  /**
   * @param terms in the order of their vectors.
   * @param bytes the vectors as signed bytes, one after the other.
   * @param scales what the bytes of each vector are multiplied by.
   * @throws RangeError when they do not go together.
   */
  constructor(terms: readonly string[], bytes: Int8Array, scales: Float32Array) {
    this.dimensions = terms.length === 0 ? 0 : bytes.length / terms.length;
    if (!Number.isInteger(this.dimensions) || scales.length !== terms.length) {
      throw new RangeError(`${terms.length} terms do not go with ${bytes.length} bytes and ${scales.length} scales`);
    }
    for (const [place, term] of terms.entries()) this.#places.set(term, place);
    this.#bytes = bytes;
    this.#scales = scales;
  }

  /** Adds the vector of a term, times `weight`, to a sum. @returns false for a term that has none. */
  addTo(sum: Float32Array, term: string, weight: number): boolean {
    const place = this.#places.get(term);
    if (place === undefined) return false;
    const factor = weight * (this.#scales[place] as number);
    const start = place * this.dimensions;
    for (let at = 0; at < sum.length; at += 1) {
      sum[at] = (sum[at] as number) + factor * (this.#bytes[start + at] as number);
    }
    return true;
  }
}

/** Makes a vector one of unit length. @returns undefined for one without a direction. */
export function toUnit(vector: Float32Array): Float32Array | undefined {
  let square = 0;
  for (const value of vector) square += value * value;
  if (square === 0) return undefined;
  const factor = 1 / Math.sqrt(square);
  return vector.map((value) => value * factor);
}

/** A vector of unit length as signed bytes: the largest part becomes 127. */
export function toBytes(unit: Float32Array): Int8Array {
  let largest = 0;
  for (const value of unit) largest = Math.max(largest, Math.abs(value));
  return Int8Array.from(unit, (value) => Math.round((value / largest) * 127));
}
