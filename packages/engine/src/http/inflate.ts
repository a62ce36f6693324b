import { pipeline, type Readable, Transform, type TransformCallback } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';

/** The codings that the runner undoes, as it announces them (`accept-encoding`, RFC 9110 12.5.3). */
export const ACCEPT_ENCODING = 'gzip, deflate, br';
/** Codings on top of each other: more than this is an attack. */
const LAYERS_MAX = 2;

// Lenient at the end, as curl and browsers are: some servers leave out the trailer.
const LENIENT = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };
const LENIENT_BROTLI = {
  flush: constants.BROTLI_OPERATION_FLUSH,
  finishFlush: constants.BROTLI_OPERATION_FLUSH,
};

/** A body came in a coding that the runner does not know. */
export class UnknownCodingError extends Error {
  override readonly name = 'UnknownCodingError';
}

/**
 * Undoes `content-encoding` (RFC 9110 8.4) while the body streams, so that the reader's limit bounds what a small
 * compressed body can become.
 *
 * @param coding - the header as it came; empty or `identity` for none
 * @throws UnknownCodingError for a coding other than gzip, deflate, br, or more than two of them
 */
export function inflate(body: Readable, coding: string): Readable {
  const layers = coding
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
  if (layers.length > LAYERS_MAX) throw new UnknownCodingError(`${layers.length} content codings`);
  return layers.reduceRight<Readable>((source, name) => {
    // The reader sees a failure of any stage on the last one.
    return pipeline(source, openDecoder(name), () => undefined);
  }, body);
}

function openDecoder(name: string): Transform {
  if (name === 'gzip' || name === 'x-gzip') return createGunzip(LENIENT);
  if (name === 'br') return createBrotliDecompress(LENIENT_BROTLI);
  if (name === 'deflate') return new Deflate();
  throw new UnknownCodingError(`content coding ${name.slice(0, 32)}`);
}

/** `deflate` should be zlib (RFC 1950), yet some servers send the raw form (RFC 1951): the first byte tells. */
class Deflate extends Transform {
  #decoder: Transform | undefined;

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#decoder ??= this.#open(chunk);
    this.#decoder.write(chunk, done);
  }

  override _flush(done: TransformCallback): void {
    if (this.#decoder === undefined) {
      done();
      return;
    }
    this.#decoder.once('end', () => done());
    this.#decoder.end();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#decoder?.destroy();
    done(error);
  }

  #open(first: Buffer): Transform {
    const isZlib = ((first[0] ?? 0) & 0x0f) === 0x08;
    const decoder = isZlib ? createInflate(LENIENT) : createInflateRaw(LENIENT);
    // Held back when the reader is slow: without this a small body could fill the memory.
    decoder.on('data', (chunk: Buffer) => {
      if (!this.push(chunk)) decoder.pause();
    });
    decoder.on('error', (error) => this.destroy(error));
    return decoder;
  }

  override _read(size: number): void {
    this.#decoder?.resume();
    super._read(size);
  }
}
