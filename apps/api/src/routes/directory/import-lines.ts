import { keepArgumentOrder, parseRowJson, toRow } from '@rowcall/engine';
import { AppError } from '@rowcall/errors';
import type { RowChange } from '@rowcall/store';
import type { Context } from '../../context.js';
import type { NumberedLine } from './ndjson.js';

/** Rows of one transaction. */
const BATCH_MAX = 500;
/** Characters of one transaction's lines: rows may have a mebibyte each. */
const BATCH_LENGTH_MAX = 4 * 1024 * 1024;

/** Why one line was not imported. */
export interface LineError {
  readonly line: number;
  readonly key?: string;
  readonly error: string;
  readonly message: string;
  readonly violations?: unknown;
}

/** A row to write, and the line that it stood on. */
export interface ImportedRow {
  readonly line: number;
  readonly change: RowChange;
}

/** What is told of the lines that are read. */
export interface LineListener {
  onLine(): void;
  onError(error: LineError): void;
}

/** A line's failure, as a report tells it. */
export function toLineError(line: number, key: string | undefined, { code, message, details }: AppError): LineError {
  const { violations } = details;
  return {
    line,
    error: code,
    message,
    ...(key === undefined ? {} : { key }),
    ...(violations === undefined ? {} : { violations }),
  };
}

/** Groups good lines; a key that occurs again begins a new batch, so that the later line wins. */
export async function* toBatches(
  context: Context,
  lines: AsyncIterable<NumberedLine>,
  listener: LineListener,
): AsyncGenerator<readonly ImportedRow[]> {
  let batch = new Map<string, ImportedRow>();
  let length = 0;
  for await (const line of lines) {
    listener.onLine();
    const change = readLine(context, line, listener);
    if (change === undefined) continue;
    const { key } = change.row;
    const lineLength = 'text' in line ? line.text.length : 0;
    if (batch.size >= BATCH_MAX || length + lineLength > BATCH_LENGTH_MAX || batch.has(key)) {
      if (batch.size > 0) yield [...batch.values()];
      batch = new Map();
      length = 0;
    }
    batch.set(key, { line: line.number, change });
    length += lineLength;
  }
  if (batch.size > 0) yield [...batch.values()];
}

function readLine(context: Context, line: NumberedLine, listener: LineListener): RowChange | undefined {
  let key: string | undefined;
  try {
    if ('error' in line) throw line.error;
    const value = parseRowJson(line.text);
    key = keyOf(value);
    return context.directory.toChange(keepArgumentOrder(toRow(value)));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    listener.onError(toLineError(line.number, key, error));
    return undefined;
  }
}

function keyOf(value: unknown): string | undefined {
  const key = (value as { key?: unknown } | null)?.key;
  return typeof key === 'string' ? key.slice(0, 64) : undefined;
}
