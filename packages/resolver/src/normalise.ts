import stem from 'wink-porter2-stemmer';

/** Characters of a question that are read; the rest is cut off. */
export const QUESTION_LENGTH_MAX = 2_000;
/** Words of a question that count. */
const TERMS_MAX = 64;

/** Words that carry no meaning in a request, the noise of asking included. */
const STOP_WORDS = new Set(
  (
    'a an the and or but if then so of in on at by to from for with without into onto as is are was were be been being am ' +
    'do does did done can could will would shall should may might must have has had having it its this that these those ' +
    'there here i me my mine we us our you your he she they them their his her what which who whom whose when where why how ' +
    'please help need want like give tell show let some any all just also about want would could thanks thank'
  ).split(' '),
);

/** Splits identifiers and text into lower-case words: camelCase, snake_case, letters from digits. */
export function toWords(text: string): string[] {
  return (
    text
      .slice(0, QUESTION_LENGTH_MAX * 8)
      .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
      .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
      .replace(/(\p{L})(\p{N})/gu, '$1 $2')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

/** @returns the term that a word is indexed under, or null for a word that does not count. */
export function toTerm(word: string): string | null {
  if (STOP_WORDS.has(word) || word.length > 64) return null;
  return /^[a-z]+$/.test(word) ? stem(word) : word;
}

/** The terms of a text of a row, each as often as it stands there. */
export function toTextTerms(text: string): string[] {
  return toWords(text)
    .map(toTerm)
    .filter((term) => term !== null);
}

/** The distinct terms of a question, in their order. */
export function toTerms(question: string): string[] {
  const terms = toTextTerms(question.slice(0, QUESTION_LENGTH_MAX));
  return [...new Set(terms)].slice(0, TERMS_MAX);
}
