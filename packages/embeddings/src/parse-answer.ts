import { isJsonObject, type JsonValue, parseJson } from '@rowcall/protocol';
import { EmbeddingError } from './embedding-error.js';

/** Dimensions of a vector at the most; the table `row_embedding` has the same bound. */
export const DIMENSIONS_MAX = 4_096;

/** What was asked for, and so must be answered. */
export interface Asked {
  readonly count: number;
  /** Undefined: any, but the same for all. */
  readonly dimensions: number | undefined;
}

const refuse = (why: string): EmbeddingError => new EmbeddingError('bad_answer', `the embeddings service ${why}`);

/**
 * Reads the answer of an OpenAI-compatible `POST /embeddings`: `{data: [{index, embedding}]}`.
 * @returns vectors of unit length, in the order of the texts.
 * @throws EmbeddingError `bad_answer` for any other count or length than was asked for, and for what is not a finite number.
 */
export function parseAnswer(text: string, asked: Asked): Float32Array[] {
  const answer = parseJson(text);
  const items = isJsonObject(answer) ? answer.data : undefined;
  if (!Array.isArray(items)) throw refuse('did not answer {"data": […]}');
  if (items.length !== asked.count) throw refuse(`answered ${items.length} vectors for ${asked.count} texts`);
  const vectors: Float32Array[] = [];
  for (const item of items as JsonValue[]) {
    const { index, embedding } = isJsonObject(item) ? item : {};
    if (!isPlace(index, asked.count) || vectors[index] !== undefined) throw refuse('answered vectors without places');
    vectors[index] = toUnitVector(embedding);
  }
  requireOneLength(vectors, asked.dimensions);
  return vectors;
}

const isPlace = (index: JsonValue | undefined, count: number): index is number =>
  typeof index === 'number' && Number.isInteger(index) && index >= 0 && index < count;

function toUnitVector(embedding: JsonValue | undefined): Float32Array {
  if (!Array.isArray(embedding)) throw refuse('answered something else than arrays of numbers');
  if (embedding.length > DIMENSIONS_MAX) {
    throw refuse(`answered a vector of ${embedding.length} dimensions; the most is ${DIMENSIONS_MAX}`);
  }
  let square = 0;
  for (const number of embedding as JsonValue[]) {
    if (typeof number !== 'number') throw refuse('answered a vector that is not of numbers');
    square += number * number;
  }
  const length = Math.sqrt(square);
  // JSON can write a number that is too large for any: it comes as infinite.
  if (length === 0 || !Number.isFinite(length)) throw refuse('answered a vector without a direction');
  return Float32Array.from(embedding as number[], (number) => number / length);
}

function requireOneLength(vectors: readonly Float32Array[], asked: number | undefined): void {
  const dimensions = asked ?? vectors[0]?.length;
  const other = vectors.find(({ length }) => length !== dimensions);
  if (other !== undefined) throw refuse(`answered a vector of ${other.length} dimensions, not ${dimensions}`);
}
