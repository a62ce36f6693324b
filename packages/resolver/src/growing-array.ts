/** Numbers in an array that grows by doubling. */
export class GrowingArray {
  #values: Int32Array;
  readonly #empty: number;

  /** @param empty the value of what was never set. */
  constructor(empty: number) {
    this.#empty = empty;
    this.#values = new Int32Array(1_024).fill(empty);
  }

  get(index: number): number {
    return this.#values[index] ?? this.#empty;
  }

  set(index: number, value: number): void {
    if (index >= this.#values.length) {
      const grown = new Int32Array(Math.max(this.#values.length * 2, index + 1)).fill(this.#empty);
      grown.set(this.#values);
      this.#values = grown;
    }
    this.#values[index] = value;
  }
}
