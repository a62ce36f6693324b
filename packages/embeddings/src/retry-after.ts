/** Longest wait, in ms, that a service is believed: an hour. */
const RETRY_AFTER_MAX_MS = 3_600_000;

/**
 * Reads `retry-after` (RFC 9110 10.2.3), seconds or a date.
 * @param now epoch ms. @returns milliseconds from now on, at most an hour; undefined when the header is neither.
 */
export function parseRetryAfter(header: string | string[] | undefined, now: number): number | undefined {
  const [first = ''] = [header ?? ''].flat();
  const text = first.trim();
  const isDate = /^[A-Z][a-z]{2},? /.test(text);
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : isDate ? Date.parse(text) - now : Number.NaN;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), RETRY_AFTER_MAX_MS);
}
