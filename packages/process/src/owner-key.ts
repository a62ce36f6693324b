import { randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ConfigError } from '@rowcall/config';
import { makeDataDir } from './data-dir.js';
import { createPrivateFile } from './private-file.js';

/** File of the generated key, in the data folder. */
export const OWNER_KEY_FILE = 'owner-key';

const KEY_LENGTH_MIN = 16;

/**
 * The owner key that was set, else the one kept in the data folder (mode 0600), made at the first start. Processes that
 * start together get the same one.
 * @throws ConfigError when the folder or the key in it cannot be used.
 */
export function loadOwnerKey(given: string | undefined, dataDir: string): string {
  if (given !== undefined) return given;
  const file = path.join(dataDir, OWNER_KEY_FILE);
  const key = readKey(file) ?? makeKey(dataDir, file);
  if (key.length < KEY_LENGTH_MIN) {
    throw new ConfigError([
      `${file} holds no key of at least ${KEY_LENGTH_MIN} characters; remove it and a new one is made, or set ROWCALL_OWNER_KEY`,
    ]);
  }
  return key;
}

function readKey(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new ConfigError([
      `the owner key ${file} cannot be read (${code}); make it readable to this user, or set ROWCALL_OWNER_KEY`,
    ]);
  }
}

/** Makes the key, unless another process was faster. */
function makeKey(dataDir: string, file: string): string {
  makeDataDir(dataDir);
  createPrivateFile(file, `rowcall_${randomBytes(32).toString('base64url')}\n`);
  return readKey(file) ?? '';
}

/** Bytes that a comparison reads, at the least, so that its time does not tell the length of a key either. */
const COMPARED_BYTES_MIN = 256;

/**
 * Compares keys in a time that tells nothing of how much of them is right.
 * @throws Error for an empty owner key, which anyone could present.
 */
export function buildKeyCheck(ownerKey: string): (candidate: string) => boolean {
  if (ownerKey === '') throw new Error('the owner key is empty');
  const length = Buffer.byteLength(ownerKey);
  const expected = Buffer.alloc(Math.max(length, COMPARED_BYTES_MIN));
  expected.write(ownerKey);
  const given = Buffer.alloc(expected.length);
  return (candidate) => {
    given.fill(0);
    given.write(candidate);
    // What is longer than the buffer, or ends in U+0000, would be equal as far as it was compared.
    return timingSafeEqual(given, expected) && Buffer.byteLength(candidate) === length;
  };
}
