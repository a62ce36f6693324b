import { makeRandom } from './random.mjs';
import { DIMENSIONS } from './vocabulary.mjs';

const SEED = 7;
/** Half the width of where terms without a general vector start. */
const SPREAD = 0.1;
/** Directions that all words share; they tell words apart by frequency rather than by meaning. */
const DIRECTIONS_REMOVED = 3;
const POWER_ITERATIONS = 100;
/** The smaller, the less a frequent term weighs (smooth inverse frequency; Arora, Liang and Ma, 2017). */
const SMOOTHING = 1e-3;

/**
 * The vectors that training starts from: general ones, less what they all have in common, longer for rarer terms; the
 * mean of their squared lengths is 1.
 * @param {import('./vocabulary.mjs').Entry[]} vocabulary
 * @returns {Float32Array} one vector after the other, in the order of the vocabulary.
 */
export function placeStart(vocabulary) {
  const random = makeRandom(SEED);
  const rows = vocabulary.map(({ general }) =>
    general
      ? general.sum.map((value) => value / general.frequency)
      : new Float64Array(DIMENSIONS).map(() => (2 * random() - 1) * SPREAD),
  );
  removeMean(rows);
  for (let done = 0; done < DIRECTIONS_REMOVED; done += 1) removeDirection(rows, findDirection(rows, random));
  for (const [index, row] of rows.entries()) scale(row, SMOOTHING / (SMOOTHING + vocabulary[index].share));
  const length = Math.sqrt(rows.reduce((sum, row) => sum + dot(row, row), 0) / rows.length);
  return Float32Array.from(rows.flatMap((row) => [...scale(row, 1 / length)]));
}

function dot(a, b) {
  let sum = 0;
  for (let at = 0; at < a.length; at += 1) sum += a[at] * b[at];
  return sum;
}

function addTimes(sum, row, factor) {
  for (let at = 0; at < sum.length; at += 1) sum[at] += factor * row[at];
}

function scale(row, factor) {
  for (let at = 0; at < row.length; at += 1) row[at] *= factor;
  return row;
}

function removeMean(rows) {
  const mean = new Float64Array(DIMENSIONS);
  for (const row of rows) addTimes(mean, row, 1 / rows.length);
  for (const row of rows) addTimes(row, mean, -1);
}

/** The unit vector along which the rows differ most, by power iteration over their products. */
function findDirection(rows, random) {
  const products = Array.from({ length: DIMENSIONS }, () => new Float64Array(DIMENSIONS));
  for (const row of rows) for (const [at, value] of row.entries()) addTimes(products[at], row, value);
  let direction = new Float64Array(DIMENSIONS).map(() => random() - 0.5);
  for (let done = 0; done < POWER_ITERATIONS; done += 1) {
    const next = Float64Array.from(products, (row) => dot(row, direction));
    direction = scale(next, 1 / Math.sqrt(dot(next, next)));
  }
  return direction;
}

function removeDirection(rows, direction) {
  for (const row of rows) addTimes(row, direction, -dot(row, direction));
}
