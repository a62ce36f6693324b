import { readFileSync } from 'node:fs';
import path from 'node:path';

/** Characters of a summary: a shorter one says nothing, and what is over the longest is cut off. */
const SUMMARY_LENGTH_MIN = 20;
const SUMMARY_LENGTH_MAX = 300;
const ASCII = /^[\x20-\x7e]+$/;
const WORDNET_FILES = ['data.noun', 'data.verb', 'data.adj', 'data.adv'];
/** A dictionary's pair counts half: the vocabulary is to be that of software. */
const WORDNET_WEIGHT = 0.5;

/**
 * Texts that say the same: the terms of both sides, each as often as it stands there.
 * @typedef {{left: string[], right: string[]}} Pair
 * @typedef {{pairs: Pair[], weight: number}} Corpus `weight` is what one pair adds to the count of each of its terms.
 */

const readLines = (file) => readFileSync(file, 'utf8').split(/\r?\n/);

/**
 * The packages of a list, name with summary. Of a line without an English-looking summary nothing is taken.
 * @returns {Corpus}
 */
export function readSummaryPairs(file, { toTextTerms }) {
  const pairs = [];
  for (const line of readLines(file)) {
    const [name, summary = ''] = line.split('\t');
    if (summary.length < SUMMARY_LENGTH_MIN || !ASCII.test(summary)) continue;
    pairs.push({ left: toTextTerms(name), right: toTextTerms(summary.slice(0, SUMMARY_LENGTH_MAX)) });
  }
  return { pairs, weight: 1 };
}

/**
 * The synsets of WordNet, their words with their gloss (wndb(5WN): offset, file, type, count in hex, words … | gloss).
 * @returns {Corpus}
 */
export function readWordNetPairs(folder, { toTextTerms }) {
  const synsets = WORDNET_FILES.flatMap((name) => readLines(path.join(folder, name))).filter((line) =>
    /^\d{8} /.test(line),
  );
  const pairs = synsets.map((line) => {
    const [head, gloss = ''] = line.split(' | ');
    return { left: toTextTerms(readSynsetWords(head.split(' '))), right: toTextTerms(gloss) };
  });
  return { pairs, weight: WORDNET_WEIGHT };
}

/** Words stand at every second field from the fifth on; "(a)" behind an adjective is its place in a sentence. */
function readSynsetWords(fields) {
  const count = Number.parseInt(fields[3], 16);
  const words = Array.from({ length: count }, (_, index) => fields[4 + 2 * index]);
  return words.map((word) => word.replaceAll('_', ' ').replace(/\(.*\)/, '')).join(' ');
}
