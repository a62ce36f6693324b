import path from 'node:path';
import { loadKey } from './generated-key.js';

const SECRET_KEY = { file: 'secret-key', name: 'secret key', setting: 'ROWCALL_SECRET_KEY' } as const;

/**
 * Sees to a secret key for the processes that share a data folder: where none was set, one is made and kept there.
 * @returns what to add to their environment.
 * @throws ConfigError when the folder or the key in it cannot be used.
 */
export function provideSecretKey(given: string | undefined, dataDir: string): Readonly<Record<string, string>> {
  if (given !== undefined) return {};
  loadKey(given, dataDir, SECRET_KEY);
  return { ROWCALL_SECRET_KEY_FILE: path.join(dataDir, SECRET_KEY.file) };
}
