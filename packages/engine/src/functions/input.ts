import { AppError } from '@rowcall/errors';
import { isDeeper, JSON_DEPTH_MAX, type JsonValue, parseJson } from '@rowcall/protocol';
import { z } from 'zod';

/** UTF-16 units of a text that a function takes or gives. */
export const TEXT_MAX = 1_048_576;
/** Elements of a list that a function makes of a text. */
export const LIST_MAX = 10_000;

/** A text of at most {@link TEXT_MAX}. */
export const text = z.string().max(TEXT_MAX, `has more than ${TEXT_MAX} characters`);

/** A whole number, or its decimal text: a body gives texts. */
export const integer = z.union(
  [
    z.int(),
    z
      .string()
      .trim()
      .regex(/^-?\d{1,9}$/)
      .transform(Number),
  ],
  'must be a whole number',
);

/** A JSON value: given as text, it is parsed. It nests at most {@link JSON_DEPTH_MAX} levels. */
export const json: z.ZodType<JsonValue> = z.unknown().transform((value, context): JsonValue => {
  const parsed = typeof value === 'string' ? parseJson(value) : (value as JsonValue);
  if (parsed === undefined) context.addIssue('is not JSON');
  else if (isDeeper(parsed, JSON_DEPTH_MAX)) context.addIssue(`nests deeper than ${JSON_DEPTH_MAX} levels`);
  else return parsed;
  return z.NEVER;
});

/** @throws AppError invalid_args when a text that is to be made is too long. */
export function requireText(length: number): void {
  if (length <= TEXT_MAX) return;
  throw new AppError('invalid_args', `the result would have ${length} characters; ${TEXT_MAX} is the most`);
}
