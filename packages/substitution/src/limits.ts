/** Largest template text of one place, in UTF-8 bytes. */
export const TEMPLATE_BYTES_MAX = 1_048_576;
/** Largest rendered output of one call, in UTF-8 bytes. */
export const RENDERED_BYTES_MAX = 16_777_216;
/** Most holes in one template. */
export const HOLES_MAX = 10_000;
/** Most steps of one `$PREV` path. */
export const PATH_STEPS_MAX = 32;
/** Deepest nesting of arrays and objects in a JSON template. */
export const JSON_DEPTH_MAX = 64;
/** Highest number of a positional argument. */
export const POSITION_MAX = 9_999;
/** Most diagnostics of one template; what follows is not listed. */
export const DIAGNOSTICS_MAX = 20;

/** Tells whether `text` takes more than `bytesMax` bytes in UTF-8. Counts only when the length does not settle it. */
export function isLongerThan(text: string, bytesMax: number): boolean {
  if (text.length * 3 <= bytesMax) return false;
  if (text.length > bytesMax) return true;
  return Buffer.byteLength(text, 'utf8') > bytesMax;
}
