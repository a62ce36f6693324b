/** How much of the past slope and of the past squared slope is kept by each step. */
const SLOPE_KEPT = 0.9;
const SQUARE_KEPT = 0.99;
const NEVER_ZERO = 1e-8;

/** Adam (Kingma and Ba, 2014) over vectors of which a step touches few: the others stay as they are, moments included. */
export class Descent {
  #vectors;
  #dimensions;
  #slopes;
  #means;
  #squares;
  #isTouched;
  #touched = [];

  /** @param {Float32Array} vectors one after the other; steps change them. */
  constructor(vectors, dimensions) {
    this.#vectors = vectors;
    this.#dimensions = dimensions;
    this.#slopes = new Float64Array(vectors.length);
    this.#means = new Float64Array(vectors.length);
    this.#squares = new Float64Array(vectors.length);
    this.#isTouched = new Uint8Array(vectors.length / dimensions);
  }

  /** Adds to the slope of a vector. */
  add(place, slope) {
    if (this.#isTouched[place] === 0) {
      this.#isTouched[place] = 1;
      this.#touched.push(place);
    }
    const start = place * this.#dimensions;
    for (let at = 0; at < this.#dimensions; at += 1) this.#slopes[start + at] += slope[at];
  }

  /** Moves every vector that has a slope against it, then forgets the slopes. */
  step(rate) {
    for (const place of this.#touched) {
      const start = place * this.#dimensions;
      for (let at = start; at < start + this.#dimensions; at += 1) this.#move(at, rate);
      this.#isTouched[place] = 0;
    }
    this.#touched.length = 0;
  }

  #move(at, rate) {
    const slope = this.#slopes[at];
    this.#means[at] = SLOPE_KEPT * this.#means[at] + (1 - SLOPE_KEPT) * slope;
    this.#squares[at] = SQUARE_KEPT * this.#squares[at] + (1 - SQUARE_KEPT) * slope * slope;
    this.#vectors[at] -= (rate * this.#means[at]) / (Math.sqrt(this.#squares[at]) + NEVER_ZERO);
    this.#slopes[at] = 0;
  }
}
