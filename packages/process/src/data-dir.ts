import { accessSync, constants, mkdirSync } from 'node:fs';
import { ConfigError } from '@rowcall/config';

/**
 * Makes the data folder for its owner alone, where there is none.
 * @throws ConfigError naming the setting, when it cannot be made or written.
 */
export function makeDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
    throw new ConfigError([
      `ROWCALL_DATA_DIR ${dataDir} cannot be made or written (${reason}); name a folder that this user may write`,
    ]);
  }
}
