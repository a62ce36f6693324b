import { randomBytes } from 'node:crypto';
import { linkSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/** Writes the text beside the path, for its owner alone, and hands the finished file over: no reader ever sees half of it. */
function writeBeside(path: string, text: string, handOver: (finished: string) => void): void {
  const finished = `${path}.${process.pid}-${randomBytes(4).toString('hex')}`;
  try {
    writeFileSync(finished, text, { flag: 'wx', mode: 0o600 });
    handOver(finished);
  } finally {
    rmSync(finished, { force: true });
  }
}

/** Makes a file of mode 0600, whole from its first moment on. @returns false, and changes nothing, when it exists already. */
export function createPrivateFile(path: string, text: string): boolean {
  try {
    writeBeside(path, text, (finished) => linkSync(finished, path));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Puts a file of mode 0600 in the place of the one that may be there, in one step. */
export function replacePrivateFile(path: string, text: string): void {
  writeBeside(path, text, (finished) => renameSync(finished, path));
}
