import { constants } from 'node:fs';
import { type FileHandle, open, stat, truncate } from 'node:fs/promises';
import { errorText } from './error-text.js';

const LOG_BYTES_MAX = 10 * 1024 * 1024;
const LOG_CHECK_MS = 60_000;
const TAIL_LINES = 20;
const TAIL_BYTES = 16 * 1024;

/** Where the log of the database in `dir` is. */
export function toLogPath(dir: string): string {
  return `${dir}.log`;
}

/**
 * Opens the log for appending, emptied first if it has grown over 10 MB. Postgres inherits the descriptor, so it
 * needs no right to the folder, and it writes on when this process is busy or dead. Follows no link.
 */
export async function openLog(path: string): Promise<FileHandle> {
  await truncateLog(path);
  const { O_APPEND, O_CREAT, O_RDWR, O_NOFOLLOW = 0 } = constants;
  return await open(path, O_APPEND | O_CREAT | O_RDWR | O_NOFOLLOW, 0o600).catch((error: unknown) => {
    throw new Error(`cannot open the database log ${path} (${errorText(error)}): remove it, or choose another folder`);
  });
}

/** Empties the log whenever it passes 10 MB, looked at once a minute. Returns what ends the watch. */
export function boundLog(path: string): () => void {
  const timer = setInterval(() => void truncateLog(path), LOG_CHECK_MS);
  timer.unref();
  return () => clearInterval(timer);
}

async function truncateLog(path: string): Promise<void> {
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  );
  if (size > LOG_BYTES_MAX) await truncate(path).catch(() => undefined);
}

/** The last lines written to the log since `offset` bytes: at most 20 lines of 16 kB. Empty if it cannot be read. */
export async function readLogTail(path: string, offset: number): Promise<string> {
  try {
    const file = await open(path, 'r');
    try {
      const { size } = await file.stat();
      const start = Math.max(size < offset ? 0 : offset, size - TAIL_BYTES);
      const { bytesRead, buffer } = await file.read(Buffer.alloc(size - start), 0, size - start, start);
      return buffer.toString('utf8', 0, bytesRead).trimEnd().split('\n').slice(-TAIL_LINES).join('\n');
    } finally {
      await file.close();
    }
  } catch {
    return '';
  }
}
