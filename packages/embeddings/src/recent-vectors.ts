/** Vectors that are kept: at 1,024 dimensions they take 4 MB. */
const SIZE_MAX = 1_000;

/** The vectors of the questions that were asked last: the same questions are asked again and again. */
export class RecentVectors {
  readonly #vectors = new Map<string, Float32Array>();

  find(text: string): Float32Array | undefined {
    const vector = this.#vectors.get(text);
    if (vector !== undefined) this.add(text, vector);
    return vector;
  }

  /** The one that was longest not asked for makes room. */
  add(text: string, vector: Float32Array): void {
    this.#vectors.delete(text);
    this.#vectors.set(text, vector);
    if (this.#vectors.size <= SIZE_MAX) return;
    for (const oldest of this.#vectors.keys()) {
      this.#vectors.delete(oldest);
      return;
    }
  }
}
