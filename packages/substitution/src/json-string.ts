/** A fault in a JSON template, at an offset of its text. */
export class TemplateSyntaxError extends Error {
  override readonly name = 'TemplateSyntaxError';
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

/** A decoded string of a JSON template. */
export interface DecodedString {
  readonly text: string;
  /** Index behind the closing quote. */
  readonly end: number;
  /** Where a character of `text` stands in the template. */
  readonly toOffset: (index: number) => number;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

/** Where a run of plain characters begins, in the decoded text and in the template. */
interface Run {
  readonly decoded: number;
  readonly source: number;
}

/**
 * Decodes the string whose opening quote is at `start` (RFC 8259, section 7). Beside JSON's escapes it takes `\$`.
 * @throws TemplateSyntaxError
 */
export function readJsonString(source: string, start: number): DecodedString {
  let text = '';
  let at = start + 1;
  /** Backslashes that end `text`. Counted as it grows: looking back into a growing string takes quadratic time. */
  let slashes = 0;
  const runs: Run[] = [{ decoded: 0, source: at }];
  for (;;) {
    const end = indexOfSpecial(source, at);
    text += source.slice(at, end);
    if (source[end] === '"') return { text, end: end + 1, toOffset: (index) => toOffset(runs, index) };
    if (source[end] !== '\\') throw toFault(source, start, end);
    if (end > at) slashes = 0;
    const read = readEscape(source, end, slashes);
    slashes = read.text === '\\' ? slashes + 1 : 0;
    text += read.text;
    at = end + read.length;
    runs.push({ decoded: text.length, source: at });
  }
}

function indexOfSpecial(source: string, from: number): number {
  let at = from;
  while (at < source.length) {
    const code = source.charCodeAt(at);
    if (code === 0x22 || code === 0x5c || code < 0x20) break;
    at += 1;
  }
  return at;
}

function toFault(source: string, start: number, end: number): TemplateSyntaxError {
  if (end >= source.length) return new TemplateSyntaxError(start, 'the string is not closed; add a double quote');
  return new TemplateSyntaxError(end, 'a string holds no line break or control character; write \\n or \\u00XX');
}

function readEscape(source: string, at: number, slashes: number): { text: string; length: number } {
  const letter = source[at + 1] ?? '';
  const simple = Object.hasOwn(ESCAPES, letter) ? ESCAPES[letter] : undefined;
  if (simple !== undefined) return { text: simple, length: 2 };
  // Kept as \$ for the scan of holes, where backslashes before a dollar pair up: those decoded so far are doubled.
  if (letter === '$') return { text: `${'\\'.repeat(slashes)}\\$`, length: 2 };
  const digits = source.slice(at + 2, at + 6);
  if (letter === 'u' && /^[0-9A-Fa-f]{4}$/.test(digits)) {
    return { text: String.fromCharCode(Number.parseInt(digits, 16)), length: 6 };
  }
  throw new TemplateSyntaxError(at, 'not an escape of JSON; write \\\\ for a backslash');
}

function toOffset(runs: readonly Run[], index: number): number {
  let low = 0;
  let high = runs.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((runs[middle]?.decoded ?? 0) <= index) low = middle;
    else high = middle - 1;
  }
  const run = runs[low];
  return run === undefined ? index : run.source + index - run.decoded;
}
