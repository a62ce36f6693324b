import { BatchSide } from './batch-side.mjs';
import { scoreAll, sumByWeights, toSlopes } from './contrast.mjs';
import { Descent } from './descent.mjs';
import { makeRandom, shuffle } from './random.mjs';
import { DIMENSIONS } from './vocabulary.mjs';

/** How it is trained: `rate` falls evenly from its start to nearly nothing. `batch` is in pairs, a multiple of four. */
export const TRAINING = { epochs: 3, batch: 512, rate: 0.02, temperature: 0.06, seed: 1 };
/** Of the rate, what is left at the end. */
const RATE_LEFT = 0.02;

/**
 * Moves the vectors until the two sides of a pair, each the sum of its terms' vectors, are nearer to one another than to
 * the other sides of their batch.
 * @param {Float32Array} vectors one after the other; they are changed.
 * @param {import('./training-source.mjs').Source[]} sources a batch is of one source, or telling sides apart is too easy.
 * @param {typeof TRAINING & {onEpoch: (epoch: number, loss: number) => void}} settings
 */
export function train(vectors, sources, settings) {
  const random = makeRandom(settings.seed);
  const step = makeStep(vectors, settings);
  for (let epoch = 1; epoch <= settings.epochs; epoch += 1) {
    const batches = planBatches(sources, settings.batch, random);
    let loss = 0;
    for (const [index, batch] of batches.entries()) {
      const done = (epoch - 1 + (index + 1) / batches.length) / settings.epochs;
      loss += step(batch, settings.rate * (1 - done + RATE_LEFT));
    }
    settings.onEpoch(epoch, loss / batches.length);
  }
}

/** Every pair once, in batches of one source each; what does not fill a batch waits for the next epoch. */
function planBatches(sources, size, random) {
  const batches = sources.flatMap((source) => {
    const order = shuffle(
      Uint32Array.from({ length: source.size }, (_, index) => index),
      random,
    );
    const full = Math.floor(source.size / size);
    return Array.from({ length: full }, (_, index) => ({
      source,
      picked: order.subarray(index * size, (index + 1) * size),
    }));
  });
  return shuffle(batches, random);
}

/** @returns one step of training: changes the vectors, and gives the loss before. */
function makeStep(vectors, { batch: size, temperature }) {
  const [left, right] = [new BatchSide(size, DIMENSIONS), new BatchSide(size, DIMENSIONS)];
  const scores = new Float64Array(size * size);
  const descent = new Descent(vectors, DIMENSIONS);
  const add = (term, slope) => descent.add(term, slope);
  return ({ source, picked }, rate) => {
    left.read(vectors, source.left, picked);
    right.read(vectors, source.right, picked);
    scoreAll(left.units, right.units, { scores, dimensions: DIMENSIONS, temperature });
    const loss = toSlopes(scores, { size, temperature });
    sumByWeights(scores, right.units, { sums: left.slopes, dimensions: DIMENSIONS, rowStep: size, columnStep: 1 });
    sumByWeights(scores, left.units, { sums: right.slopes, dimensions: DIMENSIONS, rowStep: 1, columnStep: size });
    left.spread(add);
    right.spread(add);
    descent.step(rate);
    return loss;
  };
}
