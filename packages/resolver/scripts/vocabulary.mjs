/** Components of a vector: those of the vectors that this starts from. */
export const DIMENSIONS = 100;
/** More terms make the module larger than what they find is worth. */
const TERMS_MAX = 20_000;
/** Pairs that a term without a general vector must stand in, to learn one from them alone. */
const PAIRS_MIN = 60;
/** How many pairs a term would stand in, were general language what the pairs are made of. */
const PAIRS_OF_GENERAL = 390_000;
/** The sum of one over the rank of all words, so that one word's share of general language is its frequency over it… */
const GENERAL_TOTAL = 11.5;
/** …which counts more than it is: words that are common everywhere say little. */
const GENERAL_WEIGHT = 1.5;

/**
 * @typedef {import('./general-terms.mjs').General} General
 * @typedef {{term: string, share: number, general?: General}} Entry `share` is its part of all words, 0 to 1.
 */

/**
 * The terms that get a vector, most frequent first: what software or general language uses most.
 * @param {import('./read-pairs.mjs').Corpus[]} corpora
 * @param {Map<string, General>} general
 * @returns {Entry[]}
 */
export function chooseVocabulary(corpora, general) {
  const counts = countTerms(corpora);
  const alone = [...counts.keys()].filter((term) => !general.has(term) && isLearnable(term, counts.get(term)));
  const rated = [...general.keys(), ...alone].map((term) => rate(term, counts.get(term) ?? 0, general.get(term)));
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return rated
    .sort((a, b) => b.rating - a.rating)
    .slice(0, TERMS_MAX)
    .map(({ term, count, known }) => ({
      term,
      share: toShare(count / total, known),
      ...(known && { general: known }),
    }));
}

const isLearnable = (term, count) => count >= PAIRS_MIN && /^[a-z]{2,20}$/.test(term);

const rate = (term, count, known) => ({
  term,
  count,
  known,
  rating: Math.max(count, (known?.frequency ?? 0) * PAIRS_OF_GENERAL),
});

const toShare = (share, known) => Math.max(share, ((known?.frequency ?? 0) / GENERAL_TOTAL) * GENERAL_WEIGHT);

/** Pairs that each term stands in, by the weight of their corpus. */
function countTerms(corpora) {
  const counts = new Map();
  for (const { pairs, weight } of corpora) {
    for (const { left, right } of pairs) {
      for (const term of new Set([...left, ...right])) counts.set(term, (counts.get(term) ?? 0) + weight);
    }
  }
  return counts;
}
