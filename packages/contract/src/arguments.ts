import { AppError } from '@rowcall/errors';
import type { Arguments } from '@rowcall/substitution';
import { type CallExample, findExample } from './call-example.js';
import type { CompiledSchema } from './input-schema.js';
import { type ArgumentInput, type ArgumentRow, readBySchema, readStrings } from './read-arguments.js';
import type { SchemaError } from './schema-validator.js';

/**
 * Reads the arguments of a call and checks them, before anything runs.
 *
 * With a schema: a body splits at `|` and its pieces take the names of `order`, scalars and JSON texts coerced by the type of
 * the name; an empty piece is left out, unless the name is required and may be a string. A body that is one JSON object
 * which fits no name but fits the schema whole is taken as `args`. `args` is checked as it is.
 *
 * Without a schema a row takes strings: a body gives positions, and the names that `ARGS` documents for them; `args` may
 * hold strings only, and gives the documented positions.
 *
 * @param compiled the row's schema; undefined when it has none
 * @throws AppError `invalid_args` with details `errors` (pointer by RFC 6901, rule, message) and `example`, a request body
 *   that works, or null when none is known
 */
export function toArguments(compiled: CompiledSchema | undefined, input: ArgumentInput, of: ArgumentRow): Arguments {
  const read = compiled === undefined ? readStrings(input, of.doc.args) : readBySchema(compiled, input);
  if (read.errors.length === 0) return read.arguments;
  const example = findExample(compiled, of, 'body' in input ? 'body' : 'args');
  throw toAppError(read.errors, example, of.row.key);
}

function toAppError(errors: readonly SchemaError[], example: CallExample | null, key: string): AppError {
  const shown = errors.slice(0, 3).map(({ pointer, message }) => `${pointer || 'arguments'} ${message}`);
  const more = errors.length > shown.length ? `; and ${errors.length - shown.length} more` : '';
  return new AppError('invalid_args', `the arguments do not fit ${key}: ${shown.join('; ')}${more}`, {
    details: { errors, example },
  });
}
