import type { Row } from '@rowcall/protocol';
import type { Search } from './systems.js';
import { toRowTexts } from './texts.js';

const KEY_POINTS = 3;
const WHAT_POINTS = 1;

/**
 * The scorer that gateways ship when they do not think about it: points for each word of the question that is a part of
 * the key, or of what the row says it does. No stop words, no weights of words, no index.
 */
export function buildSubstring(rows: readonly Row[]): Search {
  const texts = rows
    .map(toRowTexts)
    .map(({ key, what }) => ({ key, name: key.toLowerCase(), what: what.toLowerCase() }));
  return (question, limit) => {
    const words = question.toLowerCase().split(/\W+/).filter(Boolean);
    const points = ({ name, what }: (typeof texts)[number]) =>
      words.reduce(
        (sum, word) => sum + (name.includes(word) ? KEY_POINTS : 0) + (what.includes(word) ? WHAT_POINTS : 0),
        0,
      );
    const scored = texts.map((text) => ({ key: text.key, score: points(text) })).filter(({ score }) => score > 0);
    scored.sort((a, b) => b.score - a.score || (a.key < b.key ? -1 : 1));
    return { keys: scored.slice(0, limit).map(({ key }) => key) };
  };
}
