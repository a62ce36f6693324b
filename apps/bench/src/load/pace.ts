import { newChance } from '../chance.js';

const SEED = 0x9e3779b9;

/**
 * When calls that know nothing of each other come (a Poisson process), in ms from the start: the gaps are exponential,
 * so that some come together. The same times each time it is asked, so that both sides of a comparison share them.
 */
export function* toArrivals(ratePerSecond: number, durationMs: number): Generator<number, void> {
  const chance = newChance(SEED);
  const nextGap = () => (-Math.log(1 - chance()) * 1_000) / ratePerSecond;
  for (let at = nextGap(); at < durationMs; at += nextGap()) yield at;
}
