/** Terms of a right side that must have a vector; fewer say too little to be told from others. */
const RIGHT_TERMS_MIN = 2;

/**
 * Bags of terms, one after the other: those of bag i stand in `terms` from `starts[i]` up to `starts[i + 1]`.
 * @typedef {{starts: Uint32Array, terms: Uint16Array}} Bags
 * @typedef {{left: Bags, right: Bags, size: number}} Source
 */

/**
 * The pairs of a corpus that can be learned from: distinct terms, by their places in the vocabulary.
 * @param {import('./read-pairs.mjs').Pair[]} pairs
 * @param {Map<string, number>} places
 * @returns {Source}
 */
export function toSource(pairs, places) {
  const known = pairs
    .map(({ left, right }) => [place(left, places), place(right, places)])
    .filter(([left, right]) => left.length > 0 && right.length >= RIGHT_TERMS_MIN);
  return {
    left: toBags(known.map(([left]) => left)),
    right: toBags(known.map(([, right]) => right)),
    size: known.length,
  };
}

const place = (terms, places) => [...new Set(terms)].map((term) => places.get(term)).filter((at) => at !== undefined);

function toBags(lists) {
  const starts = new Uint32Array(lists.length + 1);
  for (const [index, list] of lists.entries()) starts[index + 1] = starts[index] + list.length;
  return { starts, terms: Uint16Array.from(lists.flat()) };
}
