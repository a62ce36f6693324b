const encoder = new TextEncoder();

/** Size of a text in UTF-8 (RFC 3629), in bytes. */
export function toByteLength(text: string): number {
  return encoder.encode(text).length;
}

const ELLIPSIS = '…';
// Control, bidirectional-override, line-separator, byte-order, tag and non-characters: they show nothing or lie about what is shown.
const INVISIBLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the very characters to remove
  /[\u0000-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff0-\ufffc\ufffe\uffff\u{e0000}-\u{e0fff}]/gu;

/**
 * Text of a row as one line that is safe to show: white space collapsed, invisible and direction-changing
 * characters removed, unpaired surrogates replaced.
 */
export function toDisplayLine(text: string): string {
  // Well-formed first: what is removed between two halves of a pair must not join them.
  return text.toWellFormed().replace(/\s+/gu, ' ').replace(INVISIBLE, '').trim();
}

/** A text and whether it had to be cut. */
export interface CutText {
  readonly text: string;
  readonly cut: boolean;
}

/**
 * Cuts `text` at a code point so that `measure` of it, ellipsis included, is at most `bytesMax`.
 *
 * @param measure size of a text in bytes as it will be written, for instance inside a JSON string; never smaller for a longer text
 */
export function cutToBytes(text: string, bytesMax: number, measure: (text: string) => number = toByteLength): CutText {
  if (measure(text) <= bytesMax) return { text, cut: false };
  // A code point is a byte at least, so no more than this many fit.
  const points = [...text.slice(0, Math.max(0, bytesMax) * 2)];
  let low = 0;
  let high = Math.min(points.length, Math.max(0, bytesMax));
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (measure(points.slice(0, middle).join('') + ELLIPSIS) <= bytesMax) low = middle;
    else high = middle - 1;
  }
  return low === 0 ? { text: '', cut: true } : { text: points.slice(0, low).join('').trimEnd() + ELLIPSIS, cut: true };
}

/** Size in bytes of a text inside a JSON string, quotes not counted (RFC 8259). */
export function toJsonTextBytes(text: string): number {
  return toByteLength(JSON.stringify(text)) - 2;
}
