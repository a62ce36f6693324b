/** How often a read is sent again. */
export const RETRIES_MAX = 2;
const BACKOFF_BASE_MS = 100;
const BACKOFF_MAX_MS = 2_000;

/** Tells whether an answer of that status may be better the next time (RFC 9110 15.6.3 to 15.6.5, RFC 6585 4). */
export function isRetryStatus(status: number, hasRetryAfter: boolean): boolean {
  return status === 502 || status === 503 || status === 504 || (status === 429 && hasRetryAfter);
}

/**
 * Reads a `retry-after` header (RFC 9110 10.2.3).
 *
 * @param nowEpochMs - the wall clock, against which a date is held
 * @returns milliseconds to wait, undefined when there is no such header or it is malformed
 */
export function parseRetryAfterMs(header: string | undefined, nowEpochMs: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const at = /^[A-Z][a-z]{2},? /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowEpochMs);
}

/**
 * Milliseconds before retry number `retry` (from 0): exponential, half of it at random.
 *
 * @param random - uniform in [0, 1)
 */
export function toBackoffMs(retry: number, random: () => number): number {
  const full = Math.min(BACKOFF_MAX_MS, BACKOFF_BASE_MS * 2 ** retry);
  return full / 2 + (full / 2) * random();
}
