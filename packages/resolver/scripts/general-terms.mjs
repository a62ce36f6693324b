import { readFileSync } from 'node:fs';
import { DIMENSIONS } from './vocabulary.mjs';

/**
 * What general language knows of a term: how often it is used, in units of the most frequent word (by Zipf's law one
 * over the rank), and the vectors of its words, each times its frequency.
 * @typedef {{frequency: number, sum: Float64Array}} General
 */

/**
 * Reads vectors of words, most frequent first, and adds those of words with the same term.
 * @returns {Map<string, General>}
 */
export function readGeneralTerms(file, { toTerm }) {
  const { words, vectors } = JSON.parse(readFileSync(file, 'utf8'));
  const general = new Map();
  for (const [index, word] of words.entries()) {
    const term = /^[a-z]+$/.test(word) ? toTerm(word) : null;
    if (term !== null) add(general, term, vectors[word], 1 / (index + 1));
  }
  return general;
}

function add(general, term, vector, frequency) {
  const known = general.get(term) ?? { frequency: 0, sum: new Float64Array(DIMENSIONS) };
  general.set(term, known);
  known.frequency += frequency;
  for (let at = 0; at < DIMENSIONS; at += 1) known.sum[at] += frequency * vector[at];
}
