import { AppError } from '@rowcall/errors';

/** Bytes of one line: a row's content may have 1 MiB, and JSON escapes take their share. */
export const LINE_BYTES_MAX = 4 * 1024 * 1024;

/** One line of a stream, with its number from 1. Empty lines count and are left out. */
export interface NumberedLine {
  readonly number: number;
  readonly text: string;
}

const NEWLINE = 0x0a;

/**
 * Splits a stream into lines as it arrives, so that its length does not matter.
 * @throws AppError payload_too_large for a line that is too long.
 */
export async function* readLines(stream: AsyncIterable<Buffer>): AsyncGenerator<NumberedLine> {
  let parts: Buffer[] = [];
  let bytes = 0;
  let number = 0;
  const take = (): NumberedLine | undefined => {
    const text = Buffer.concat(parts).toString('utf8').trim();
    parts = [];
    bytes = 0;
    number += 1;
    return text === '' ? undefined : { number, text };
  };
  for await (const chunk of stream) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      parts.push(chunk.subarray(start, end));
      start = end + 1;
      const line = take();
      if (line !== undefined) yield line;
    }
    parts.push(chunk.subarray(start));
    bytes += chunk.length - start;
    if (bytes > LINE_BYTES_MAX)
      throw new AppError('payload_too_large', `line ${number + 1} has more than ${LINE_BYTES_MAX} bytes`);
  }
  const last = take();
  if (last !== undefined) yield last;
}
