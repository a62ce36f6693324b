const SEED = 0x9e3779b9;

/** Evenly spread numbers in [0, 1), the same ones each time (mulberry32): chance that both sides of a comparison share. */
function* repeatableChance(): Generator<number, never> {
  let state = SEED;
  for (;;) {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    yield ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
}

/**
 * When calls that know nothing of each other come (a Poisson process), in ms from the start: the gaps are exponential,
 * so that some come together. The same times each time it is asked.
 */
export function* toArrivals(ratePerSecond: number, durationMs: number): Generator<number, void> {
  const chance = repeatableChance();
  const nextGap = () => (-Math.log(1 - chance.next().value) * 1_000) / ratePerSecond;
  for (let at = nextGap(); at < durationMs; at += nextGap()) yield at;
}
