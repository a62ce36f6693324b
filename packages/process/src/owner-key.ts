import { hash, timingSafeEqual } from 'node:crypto';
import { loadKey } from './generated-key.js';

/** File of the generated key, in the data folder. */
export const OWNER_KEY_FILE = 'owner-key';

/** The owner key, as {@link loadKey} gives it. @throws ConfigError when the folder or the key in it cannot be used. */
export function loadOwnerKey(given: string | undefined, dataDir: string): string {
  return loadKey(given, dataDir, { file: OWNER_KEY_FILE, name: 'owner key', setting: 'ROWCALL_OWNER_KEY' });
}

const digest = (text: string): Buffer => hash('sha256', text, 'buffer');

/**
 * Compares keys in a time that tells nothing of how much of them is right.
 * @throws Error for an empty owner key, which anyone could present.
 */
export function buildKeyCheck(ownerKey: string): (candidate: string) => boolean {
  if (ownerKey === '') throw new Error('the owner key is empty');
  const expected = digest(ownerKey);
  return (candidate) => timingSafeEqual(digest(candidate), expected);
}
