import type { Row } from '@rowcall/protocol';
import MiniSearch, { type Options } from 'minisearch';
import stem from 'wink-porter2-stemmer';
import type { Search } from './systems.js';
import { type RowTexts, toRowTexts } from './texts.js';

const FIELDS = ['key', 'category', 'what', 'args'];
const BOOST = { key: 4, category: 0.3, what: 1, args: 0.4 };

const STOP_WORDS = new Set(
  (
    'a an the and or but if then so of in on at by to from for with without into onto as is are was were be been being ' +
    'am do does did done can could will would shall should may might must have has had having it its this that these ' +
    'those there here i me my mine we us our you your he she they them their his her what which who whom whose when ' +
    'where why how please help need want like give tell show let some any all just also about thanks thank'
  ).split(' '),
);

/** Words of identifiers and texts: camelCase and snake_case apart, letters from digits. */
const tokenize = (text: string): string[] =>
  text
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{L})(\p{N})/gu, '$1 $2')
    .match(/\p{L}+|\p{N}+/gu) ?? [];

function processTerm(word: string): string | null {
  const lower = word.toLowerCase();
  if (STOP_WORDS.has(lower)) return null;
  return /^[a-z]+$/.test(lower) ? stem(lower) : lower;
}

function build(rows: readonly Row[], options: Partial<Options<RowTexts>>): Search {
  const index = new MiniSearch<RowTexts>({ fields: FIELDS, idField: 'key', ...options });
  index.addAll(rows.map(toRowTexts));
  return (question, limit) => ({
    keys: index
      .search(question)
      .slice(0, limit)
      .map(({ id }) => String(id)),
  });
}

/** MiniSearch as it comes. */
export const buildMiniSearch = (rows: readonly Row[]): Search => build(rows, {});

/** MiniSearch with identifiers split, stop words, Porter2 stems and weights of fields. */
export const buildTunedMiniSearch = (rows: readonly Row[]): Search =>
  build(rows, { tokenize, processTerm, searchOptions: { boost: BOOST } });
