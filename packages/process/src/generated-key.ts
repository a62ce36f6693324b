import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ConfigError } from '@rowcall/config';
import { makeDataDir } from './data-dir.js';
import { createPrivateFile } from './private-file.js';

const KEY_LENGTH_MIN = 16;

/** A key that is made where none was set. */
export interface GeneratedKey {
  /** Its file in the data folder. */
  readonly file: string;
  /** What it is called in messages. */
  readonly name: string;
  /** The variable that sets it. */
  readonly setting: string;
}

/**
 * The key that was set, else the one kept in the data folder (mode 0600), made at the first start. Processes that start
 * together get the same one.
 * @throws ConfigError when the folder or the key in it cannot be used.
 */
export function loadKey(given: string | undefined, dataDir: string, kind: GeneratedKey): string {
  if (given !== undefined) return given;
  const file = path.join(dataDir, kind.file);
  const key = readKey(file, kind) ?? makeKey(dataDir, file, kind);
  if (key.length < KEY_LENGTH_MIN) {
    throw new ConfigError([
      `${file} holds no key of at least ${KEY_LENGTH_MIN} characters; remove it and a new one is made, or set ${kind.setting}`,
    ]);
  }
  return key;
}

function readKey(file: string, { name, setting }: GeneratedKey): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new ConfigError([
      `the ${name} ${file} cannot be read (${code}); make it readable to this user, or set ${setting}`,
    ]);
  }
}

/** Makes the key, unless another process was faster. */
function makeKey(dataDir: string, file: string, kind: GeneratedKey): string {
  makeDataDir(dataDir);
  createPrivateFile(file, `rowcall_${randomBytes(32).toString('base64url')}\n`);
  return readKey(file, kind) ?? '';
}
