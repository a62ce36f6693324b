// The loops that take nearly all the time of training: written out, four rows at a time, since V8 does not do so itself.

/**
 * The cosines of every left with every right unit vector, over the temperature.
 * @param {Float64Array} left
 * @param {Float64Array} right as many as `left`, a multiple of four.
 * @param {Float64Array} scores one row per left vector.
 */
export function scoreAll(left, right, { scores, dimensions, temperature }) {
  const size = left.length / dimensions;
  for (let row = 0; row < size; row += 1) {
    const from = row * dimensions;
    for (let column = 0; column < size; column += 4) {
      const b = column * dimensions;
      const c = b + dimensions;
      const d = c + dimensions;
      const e = d + dimensions;
      let first = 0;
      let second = 0;
      let third = 0;
      let fourth = 0;
      for (let at = 0; at < dimensions; at += 1) {
        const value = left[from + at];
        first += value * right[b + at];
        second += value * right[c + at];
        third += value * right[d + at];
        fourth += value * right[e + at];
      }
      const to = row * size + column;
      scores[to] = first / temperature;
      scores[to + 1] = second / temperature;
      scores[to + 2] = third / temperature;
      scores[to + 3] = fourth / temperature;
    }
  }
}

/**
 * InfoNCE both ways: each left must pick its right out of the batch, and each right its left. Turns scores, in place,
 * into the slopes of the loss by each cosine.
 * @returns {number} the loss.
 */
export function toSlopes(scores, { size, temperature }) {
  const rows = new Float64Array(size);
  const columns = new Float64Array(size);
  let own = 0;
  for (let row = 0; row < size; row += 1) {
    own += scores[row * size + row];
    for (let column = 0; column < size; column += 1) {
      // Cosines end at 1, so that nothing overflows.
      const value = Math.exp(scores[row * size + column] - 1 / temperature);
      scores[row * size + column] = value;
      rows[row] += value;
      columns[column] += value;
    }
  }
  share(scores, { rows, columns, factor: 1 / (2 * size * temperature) });
  const logs = (sums) => sums.reduce((total, sum) => total + Math.log(sum), 0);
  return (logs(rows) + logs(columns)) / (2 * size) + 1 / temperature - own / size;
}

function share(scores, { rows, columns, factor }) {
  const size = rows.length;
  for (let row = 0; row < size; row += 1) {
    for (let column = 0; column < size; column += 1) {
      scores[row * size + column] *= (1 / rows[row] + 1 / columns[column]) * factor;
    }
    scores[row * size + row] -= 2 * factor;
  }
}

/**
 * Sums of vectors by weights: `sums[i]` is the sum over j of `weights[i * rowStep + j * columnStep]` times `vectors[j]`.
 * @param {Float64Array} weights
 * @param {Float64Array} vectors a multiple of four.
 */
export function sumByWeights(weights, vectors, { sums, dimensions, rowStep, columnStep }) {
  const size = vectors.length / dimensions;
  sums.fill(0);
  for (let row = 0; row < size; row += 1) {
    const to = row * dimensions;
    for (let column = 0; column < size; column += 4) {
      const b = column * dimensions;
      const c = b + dimensions;
      const d = c + dimensions;
      const e = d + dimensions;
      const from = row * rowStep + column * columnStep;
      const first = weights[from];
      const second = weights[from + columnStep];
      const third = weights[from + 2 * columnStep];
      const fourth = weights[from + 3 * columnStep];
      for (let at = 0; at < dimensions; at += 1) {
        sums[to + at] +=
          first * vectors[b + at] + second * vectors[c + at] + third * vectors[d + at] + fourth * vectors[e + at];
      }
    }
  }
}
