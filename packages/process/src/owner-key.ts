import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** File of the generated key, in the data folder. */
export const OWNER_KEY_FILE = 'owner-key';

/** The owner key that was set, else the one kept in the data folder, made at the first start. */
export function loadOwnerKey(given: string | undefined, dataDir: string): string {
  if (given !== undefined) return given;
  mkdirSync(dataDir, { recursive: true });
  const file = path.join(dataDir, OWNER_KEY_FILE);
  try {
    // "wx": of processes that start together, one makes the key and the others read it.
    writeFileSync(file, `rowcall_${randomBytes(32).toString('base64url')}\n`, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return readFileSync(file, 'utf8').trim();
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Compares keys in a time that tells nothing of how much of them is right. */
export function buildKeyCheck(ownerKey: string): (candidate: string) => boolean {
  const expected = digest(ownerKey);
  return (candidate) => timingSafeEqual(digest(candidate), expected);
}
