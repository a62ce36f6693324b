import { AppError } from '@rowcall/errors';

/** Bytes of one line: a row's content may have 1 MiB, and JSON escapes take their share. */
export const LINE_BYTES_MAX = 4 * 1024 * 1024;

/** One line of a stream, with its number from 1. Empty lines count and are left out. */
export type NumberedLine = { readonly number: number } & ({ readonly text: string } | { readonly error: AppError });

const NEWLINE = 0x0a;
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Puts the pieces of one line together; of a line that is too long it keeps nothing. */
class LineBuilder {
  #parts: Buffer[] = [];
  #bytes = 0;
  #number = 0;

  add(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes <= LINE_BYTES_MAX) this.#parts.push(part);
    else this.#parts = [];
  }

  /** Ends the line. @returns undefined for an empty one. */
  take(): NumberedLine | undefined {
    const [parts, bytes] = [this.#parts, this.#bytes];
    this.#parts = [];
    this.#bytes = 0;
    this.#number += 1;
    const number = this.#number;
    if (bytes > LINE_BYTES_MAX) {
      return { number, error: new AppError('payload_too_large', `the line has more than ${LINE_BYTES_MAX} bytes`) };
    }
    const text = decode(Buffer.concat(parts));
    if (text === undefined) return { number, error: new AppError('invalid_json', 'the line is not UTF-8') };
    return text === '' ? undefined : { number, text };
  }
}

function decode(bytes: Buffer): string | undefined {
  try {
    return UTF8.decode(bytes).trim();
  } catch {
    return undefined; // A TypeError is all that a fatal decoder throws.
  }
}

/**
 * Splits a stream into lines as it arrives, so that its length does not matter. A line that is too long, or no UTF-8, is
 * an error of its own.
 */
export async function* readLines(stream: AsyncIterable<Buffer>): AsyncGenerator<NumberedLine> {
  const line = new LineBuilder();
  for await (const chunk of stream) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      line.add(chunk.subarray(start, end));
      start = end + 1;
      const taken = line.take();
      if (taken !== undefined) yield taken;
    }
    if (start < chunk.length) line.add(chunk.subarray(start));
  }
  const last = line.take();
  if (last !== undefined) yield last;
}
