import { BYTES, SCALES, TERMS } from './word-data.js';
import { WordVectors } from './word-vectors.js';

/** In a buffer of its own, so that it may be read as numbers of any width. */
const decode = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(text, 'base64'));

let vectors: WordVectors | undefined;

/** Vectors of the 20,000 words that descriptions of software and questions use most. Decoded once. */
export function englishWords(): WordVectors {
  vectors ??= new WordVectors(
    TERMS.split(' '),
    new Int8Array(decode(BYTES).buffer),
    new Float32Array(decode(SCALES).buffer),
  );
  return vectors;
}
