import type { ArgumentDoc } from './docstring.js';

const ARGUMENT = /^\$(\d{1,3})(\+?)\s*=\s*(\S[^(]*)(?:\((.*)\))?$/s;

/**
 * Reads an `ARGS` text: `$1=name (note) | $2+=rest`. A bar inside parentheses does not separate. Pieces of another form
 * are left out; of two pieces with the same position the first counts. In order of position.
 */
export function parseArgumentDocs(text: string): ArgumentDoc[] {
  const found = new Map<number, ArgumentDoc>();
  for (const piece of splitOutsideParentheses(text)) {
    const match = ARGUMENT.exec(piece.trim());
    const position = Number(match?.[1]);
    if (match === null || position < 1 || found.has(position)) continue;
    found.set(position, {
      position,
      openEnded: match[2] === '+',
      name: (match[3] ?? '').trim(),
      note: (match[4] ?? '').trim(),
    });
  }
  return [...found.values()].sort((a, b) => a.position - b.position);
}

function splitOutsideParentheses(text: string): string[] {
  const pieces: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '(') depth += 1;
    else if (character === ')') depth = Math.max(0, depth - 1);
    else if (character === '|' && depth === 0) {
      pieces.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...pieces, text.slice(start)];
}

const TAG = /\[(\/?)([A-Z_][A-Z0-9_]{0,63})\]/g;

/**
 * Reads an `EX` text: the argument strings between `[KEY]` and `[/KEY]`, in order. A text without any such pair is one
 * argument string by itself. One pass over the tags, so hostile text costs no more than its length.
 */
export function parseExampleTags(text: string): string[] {
  const tags = [...text.matchAll(TAG)];
  const lastClosing = new Map(tags.filter((tag) => tag[1] === '/').map((tag) => [tag[2] ?? '', tag.index]));
  const examples: string[] = [];
  let open: { key: string; start: number } | undefined;
  for (const tag of tags) {
    const key = tag[2] ?? '';
    const closes = tag[1] === '/';
    if (open !== undefined && closes && key === open.key) {
      examples.push(text.slice(open.start, tag.index));
      open = undefined;
    } else if (open === undefined && !closes && (lastClosing.get(key) ?? -1) > tag.index) {
      open = { key, start: tag.index + tag[0].length };
    }
  }
  return examples.length === 0 && text !== '' ? [text] : examples;
}
