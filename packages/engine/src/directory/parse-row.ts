import { AppError } from '@rowcall/errors';
import { isDeeper, JSON_DEPTH_MAX, type RowWrite, rowWriteSchema } from '@rowcall/protocol';
import type { z } from 'zod';
import { requireStorable } from './storable.js';

/** Names that would reach an object's prototype where a value is copied, or escapes that may write them. */
const PROTOTYPE_NAMES = /__proto__|constructor|\\u00[5-7]/i;

/**
 * Reads the JSON text of a row, or of some of its columns, that no body parser has seen.
 * @throws AppError invalid_json for what is not JSON, nests too deep, or would reach a prototype.
 */
export function parseRowJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text, PROTOTYPE_NAMES.test(text) ? refusePrototype : undefined);
  } catch (error) {
    throw new AppError('invalid_json', (error as Error).message.slice(0, 200), { cause: error });
  }
  if (isDeeper(value, JSON_DEPTH_MAX)) {
    throw new AppError('invalid_json', `the row nests deeper than ${JSON_DEPTH_MAX} levels`);
  }
  return value;
}

function refusePrototype(name: string, value: unknown): unknown {
  const reaches =
    name === 'constructor' && typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype');
  if (name === '__proto__' || reaches) throw new SyntaxError(`the row has a member ${name}`);
  return value;
}

/** A row as a writer sends it. @throws AppError invalid_row naming the first field that is wrong. */
export function toRow(value: unknown): RowWrite {
  const row = checkRow(rowWriteSchema, value);
  requireStorable(row);
  return row;
}

/** A value by a schema of rows. @throws AppError invalid_row naming the first field that is wrong. */
export function checkRow<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new AppError('invalid_row', `/${issue?.path.join('/') ?? ''} ${issue?.message ?? ''}`.slice(0, 300));
}
