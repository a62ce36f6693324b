import type { RowType } from '@rowcall/protocol';
import { parseArgumentDocs, parseExampleTags } from './docstring-parts.js';

/** One argument that the `ARGS` label names. */
export interface ArgumentDoc {
  /** From 1. */
  readonly position: number;
  /** True for `$2+`: this argument and all after it. */
  readonly openEnded: boolean;
  readonly name: string;
  /** Text in parentheses after the name; empty when there is none. */
  readonly note: string;
}

/** What a row says about itself. A label that does not occur is an empty text, an empty list, or null. */
export interface Docstring {
  readonly what: string;
  readonly whenToUse: string;
  readonly args: readonly ArgumentDoc[];
  /** The `ARGS` text as it was written, lines joined by spaces. */
  readonly argsText: string;
  /** Argument strings of the `EX` lines. */
  readonly ex: readonly string[];
  readonly output: string;
  readonly preconditions: string;
  readonly effects: string;
  readonly postconditions: string;
  /** Null when the text does not begin with yes, true, no or false. */
  readonly safe: boolean | null;
  /** Null when the text does not begin with yes, true, no or false. */
  readonly idempotent: boolean | null;
  readonly tests: string;
  readonly inverse: string;
}

const LABELS = [
  'WHAT',
  'WHEN_TO_USE',
  'ARGS',
  'EX',
  'OUTPUT',
  'PRECONDITIONS',
  'EFFECTS',
  'POSTCONDITIONS',
  'SAFE',
  'IDEMPOTENT',
  'TESTS',
  'INVERSE',
] as const;
type Label = (typeof LABELS)[number];

const LABELLED_LINE = new RegExp(`^(${LABELS.join('|')})[ \\t]*:(.*)$`, 's');
const isLabel = (name: string): name is Label => (LABELS as readonly string[]).includes(name);

/**
 * Splits the content of a row into its documentation and its payload.
 *
 * The documentation is the unbroken block of leading lines that start with `#`; in an agent row only if it begins with a
 * label, for a prompt may begin with a Markdown heading. The payload is what follows, to the byte. Lines end in LF or CRLF.
 */
export function parseDocstring(content: string, type: RowType): { doc: Docstring; payload: string } {
  const { lines, payload } = splitBlock(content);
  const first = lines[0];
  const counts = type !== 'agent' || (first !== undefined && LABELLED_LINE.test(first));
  return counts ? { doc: readLines(lines), payload } : { doc: readLines([]), payload: content };
}

function splitBlock(content: string): { lines: string[]; payload: string } {
  const lines: string[] = [];
  let start = 0;
  while (content.startsWith('#', start)) {
    const newline = content.indexOf('\n', start);
    const end = newline < 0 ? content.length : newline;
    lines.push(content.slice(start, end).replace(/^#+/, '').trim());
    start = newline < 0 ? end : newline + 1;
  }
  return { lines, payload: content.slice(start) };
}

function readLines(lines: readonly string[]): Docstring {
  const texts = new Map<Label, string[]>();
  let label: Label = 'WHAT';
  for (const line of lines) {
    const match = LABELLED_LINE.exec(line);
    const name = match?.[1] ?? '';
    if (isLabel(name)) label = name;
    const text = isLabel(name) ? (match?.[2] ?? '').trim() : line;
    const known = texts.get(label);
    if (known) known.push(text);
    else texts.set(label, [text]);
  }
  return toDocstring((name, separator = ' ') => (texts.get(name) ?? []).filter(Boolean).join(separator));
}

function toDocstring(text: (name: Label, separator?: string) => string): Docstring {
  return {
    what: text('WHAT'),
    whenToUse: text('WHEN_TO_USE'),
    args: parseArgumentDocs(text('ARGS')),
    argsText: text('ARGS'),
    ex: parseExampleTags(text('EX', '\n')),
    output: text('OUTPUT'),
    preconditions: text('PRECONDITIONS'),
    effects: text('EFFECTS'),
    postconditions: text('POSTCONDITIONS'),
    safe: toAnswer(text('SAFE')),
    idempotent: toAnswer(text('IDEMPOTENT')),
    tests: text('TESTS'),
    inverse: text('INVERSE'),
  };
}

function toAnswer(text: string): boolean | null {
  const word = /^(yes|true|no|false)\b/i.exec(text)?.[1]?.toLowerCase();
  return word === undefined ? null : word === 'yes' || word === 'true';
}
