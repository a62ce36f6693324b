import { closeSync, openSync, readSync, statSync } from 'node:fs';

/** Log bytes after which a log begins anew at the next start of its process. */
const LOG_BYTES_MAX = 10 * 1024 * 1024;
const TAIL_BYTES = 16 * 1024;
const TAIL_LINES = 12;
/** pino's level of a line that says why the process ends. */
const FATAL = 60;

/** The log of a process that is started now. */
export interface LogFile {
  /** Descriptor for its output; to be closed. */
  readonly fd: number;
  /** What was written since says why the process ended. */
  explain(): string;
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/** Opens a log for appending, mode 0600. */
export function openLog(file: string): LogFile {
  const fd = openSync(file, sizeOf(file) > LOG_BYTES_MAX ? 'w' : 'a', 0o600);
  const start = sizeOf(file);
  return { fd, explain: () => explainLog(readFrom(file, start), file) };
}

function readFrom(file: string, start: number): string {
  const from = Math.max(start, sizeOf(file) - TAIL_BYTES);
  const buffer = Buffer.alloc(TAIL_BYTES);
  const fd = openSync(file, 'r');
  try {
    return buffer.toString('utf8', 0, readSync(fd, buffer, 0, TAIL_BYTES, from));
  } finally {
    closeSync(fd);
  }
}

/** The reasons that a log gives for the end of its process; without any, its last lines. */
export function explainLog(text: string, file: string): string {
  const lines = text.trimEnd().split('\n');
  const reasons = lines.map(toReason).filter((reason) => reason !== undefined);
  if (reasons.length > 0) return reasons.join('; ');
  return `the end of ${file}:\n${lines.slice(-TAIL_LINES).join('\n')}`;
}

function toReason(line: string): string | undefined {
  try {
    const { level, msg, err } = JSON.parse(line) as { level?: number; msg?: string; err?: { message?: string } };
    return level === FATAL ? [msg, err?.message].filter((part) => part !== undefined).join(': ') : undefined;
  } catch {
    return undefined;
  }
}
