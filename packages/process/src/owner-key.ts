import { timingSafeEqual } from 'node:crypto';
import { loadKey } from './generated-key.js';

/** File of the generated key, in the data folder. */
export const OWNER_KEY_FILE = 'owner-key';

/** The owner key, as {@link loadKey} gives it. @throws ConfigError when the folder or the key in it cannot be used. */
export function loadOwnerKey(given: string | undefined, dataDir: string): string {
  return loadKey(given, dataDir, { file: OWNER_KEY_FILE, name: 'owner key', setting: 'ROWCALL_OWNER_KEY' });
}

/** Bytes that a comparison reads, at the least, so that its time does not tell the length of a key either. */
const COMPARED_BYTES_MIN = 256;

/**
 * Tells whether a text is one of the keys, in a time that tells nothing of how much of it is right, nor of which.
 * @param ownerKeyNext another key of the owner, while callers change from one to the other.
 * @throws Error for an empty key, which anyone could present.
 */
export function buildKeyCheck(ownerKey: string, ownerKeyNext?: string): (candidate: string) => boolean {
  const comparisons = [ownerKey, ...(ownerKeyNext === undefined ? [] : [ownerKeyNext])].map(buildComparison);
  // All of them are made, whatever the first says.
  return (candidate) => comparisons.reduce((found, compare) => found | compare(candidate), 0) === 1;
}

/** Compares with one key: 1 when equal, else 0. Without branches, which would take another time when it is equal. */
function buildComparison(ownerKey: string): (candidate: string) => number {
  if (ownerKey === '') throw new Error('the owner key is empty');
  const length = Buffer.byteLength(ownerKey);
  const expected = Buffer.alloc(Math.max(length, COMPARED_BYTES_MIN));
  expected.write(ownerKey);
  const given = Buffer.alloc(expected.length);
  return (candidate) => {
    given.fill(0);
    given.write(candidate);
    // What is longer than the buffer, or ends in U+0000, would be equal as far as it was compared.
    return Number(timingSafeEqual(given, expected)) & Number(Buffer.byteLength(candidate) === length);
  };
}
