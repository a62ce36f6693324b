import { parseDocstring } from '@rowcall/contract';
import type { HeldRow } from './entry.js';

/** Characters of a row's text that are put into numbers. */
const LENGTH_MAX = 8_000;

/** The text that stands for a row when its meaning is put into numbers: its key as words, and what its docstring tells a searcher. */
export function toEmbeddingText(row: HeldRow): string {
  const { doc } = parseDocstring(row.content, row.type);
  const words = row.key.toLowerCase().split('_').filter(Boolean).join(' ');
  const names = doc.args.map(({ name }) => name).join(', ');
  const parts = [words, doc.what, doc.whenToUse, names].filter((part) => part !== '');
  return parts.join('\n').slice(0, LENGTH_MAX).toWellFormed();
}
