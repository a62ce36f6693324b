import stem from 'wink-porter2-stemmer';

/** Characters of a question that are read; the rest is cut off. */
export const QUESTION_LENGTH_MAX = 2_000;
/** Characters of a row's text that are read. */
const TEXT_LENGTH_MAX = 16_000;
/** A longer word is no word. */
const WORD_LENGTH_MAX = 64;
/** Stems that are kept: catalogues and questions use the same words again and again. */
const STEMS_KEPT = 50_000;

/** Words that carry no meaning in a request, the noise of asking included. */
const STOP_WORDS = new Set(
  (
    'a an the and or but if then so of in on at by to from for with without into onto as is are was were be been being am ' +
    'do does did done can could will would shall should may might must have has had having it its this that these those ' +
    'there here i me my mine we us our you your he she they them their his her what which who whom whose when where why how ' +
    'please help need want like give tell show let some any all just also about want would could thanks thank ' +
    'im ive id ll re ve don doesn didn isn aren wasn won hello hi hey kindly'
  ).split(' '),
);

/** Splits identifiers and text into lower-case words: camelCase, snake_case, letters from digits. */
export function toWords(text: string): string[] {
  return (
    text
      .slice(0, TEXT_LENGTH_MAX)
      .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
      .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
      .replace(/(\p{L})(\p{N})/gu, '$1 $2')
      .replace(/(\p{N})(\p{L})/gu, '$1 $2')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

const stems = new Map<string, string>();

function toStem(word: string): string {
  const known = stems.get(word);
  if (known !== undefined) return known;
  const found = /^[a-z]+$/.test(word) ? stem(word) : word;
  if (stems.size >= STEMS_KEPT) stems.clear();
  stems.set(word, found);
  return found;
}

/** Whether a word says anything of what is asked for. */
export const isMeant = (word: string): boolean => !STOP_WORDS.has(word) && word.length <= WORD_LENGTH_MAX;

/** @returns the term that a word is indexed under, or null for a word that does not count. */
export const toTerm = (word: string): string | null => (isMeant(word) ? toStem(word) : null);

/** The terms of a text, each as often as it stands there. */
export function toTextTerms(text: string): string[] {
  return toWords(text)
    .map(toTerm)
    .filter((term) => term !== null);
}
