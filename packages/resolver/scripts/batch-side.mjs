/** One side of a batch of pairs: the sums of the vectors of its bags, made unit vectors, and the slopes of the loss. */
export class BatchSide {
  /** Unit vectors, one after the other. */
  units;
  /** What the loss changes by, for each component of `units`. */
  slopes;
  #dimensions;
  #lengths;
  #bags;
  #picked;

  constructor(size, dimensions) {
    this.#dimensions = dimensions;
    this.#lengths = new Float64Array(size);
    this.units = new Float64Array(size * dimensions);
    this.slopes = new Float64Array(size * dimensions);
  }

  /** Reads the picked bags. */
  read(vectors, bags, picked) {
    this.#bags = bags;
    this.#picked = picked;
    this.units.fill(0);
    for (let row = 0; row < picked.length; row += 1) {
      for (const term of this.#termsOf(row)) this.#addVector(row, vectors, term);
      this.#makeUnit(row);
    }
  }

  /** Hands the slope of every term in every bag on: that of its bag's sum. */
  spread(add) {
    for (let row = 0; row < this.#picked.length; row += 1) {
      const slope = this.#slopeOfSum(row);
      for (const term of this.#termsOf(row)) add(term, slope);
    }
  }

  #termsOf(row) {
    const { starts, terms } = this.#bags;
    const bag = this.#picked[row];
    return terms.subarray(starts[bag], starts[bag + 1]);
  }

  #addVector(row, vectors, term) {
    const [to, from] = [row * this.#dimensions, term * this.#dimensions];
    for (let at = 0; at < this.#dimensions; at += 1) this.units[to + at] += vectors[from + at];
  }

  #makeUnit(row) {
    const sum = this.units.subarray(row * this.#dimensions, (row + 1) * this.#dimensions);
    let square = 0;
    for (const value of sum) square += value * value;
    const length = Math.sqrt(square) || 1;
    for (let at = 0; at < sum.length; at += 1) sum[at] /= length;
    this.#lengths[row] = length;
  }

  /** Through the unit vector to the sum: what lies along it changes nothing. */
  #slopeOfSum(row) {
    const [start, end] = [row * this.#dimensions, (row + 1) * this.#dimensions];
    const unit = this.units.subarray(start, end);
    const slope = this.slopes.subarray(start, end);
    let along = 0;
    for (let at = 0; at < unit.length; at += 1) along += unit[at] * slope[at];
    return slope.map((value, at) => (value - along * unit[at]) / this.#lengths[row]);
  }
}
