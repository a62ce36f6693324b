/** One fault of a template, where it stands. Offsets count UTF-16 units from 0; line and column count from 1. */
export interface Diagnostic {
  /** `target`, `headers.X-Name` or `payload`. */
  readonly place: string;
  readonly message: string;
  readonly offset: number;
  readonly line: number;
  readonly column: number;
  /** The line, cut to a window around the fault, and a second line with a caret below it. */
  readonly excerpt: string;
}

/** A compiled template, or everything that is wrong with its text. */
export type ParseResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/** Columns of the excerpt on each side of the fault. */
const WINDOW_COLUMNS = 60;

/** Makes a diagnostic for the character at `offset` of `text`. */
export function toDiagnostic(place: string, text: string, offset: number, message: string): Diagnostic {
  // lastIndexOf takes a position before the start for the start itself.
  const lineStart = offset === 0 ? 0 : text.lastIndexOf('\n', offset - 1) + 1;
  const lineEnd = indexOfLineEnd(text, lineStart);
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < lineStart; at = text.indexOf('\n', at + 1)) line += 1;
  const from = Math.max(lineStart, offset - WINDOW_COLUMNS);
  const shown = text.slice(from, Math.min(lineEnd, offset + WINDOW_COLUMNS));
  const pad = text.slice(from, Math.min(offset, lineEnd)).replace(/[^\t]/g, ' ');
  return {
    place,
    message,
    offset,
    line,
    column: offset - lineStart + 1,
    excerpt: `${toPrintable(shown)}\n${pad}^`,
  };
}

function indexOfLineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}

/** Replaces controls other than tab, and halves of surrogate pairs, so that the caret line stays below its character. */
function toPrintable(text: string): string {
  return text.replace(/[^\t\P{Cc}]/gu, '\u{fffd}').toWellFormed();
}
