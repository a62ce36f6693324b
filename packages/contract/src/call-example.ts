import type { JsonObject } from '@rowcall/protocol';
import { deriveExample } from './derive-example.js';
import type { CompiledSchema } from './input-schema.js';
import { type ArgumentRow, readBySchema, readStrings } from './read-arguments.js';

/** A request body that is ready to be sent to `/api/dispatch`. */
export type CallExample =
  | { readonly key: string; readonly body: string }
  | { readonly key: string; readonly args: JsonObject };

/**
 * Finds a call of the row that works: its first example that fits the schema, else one derived from the schema. A row
 * without schema, examples and documented arguments is called with the empty body.
 *
 * @param form in which form to write it where both say the same
 * @param isWanted picks among the examples, for instance by size
 * @returns null when no working call is known
 */
export function findExample(
  compiled: CompiledSchema | undefined,
  of: ArgumentRow,
  form: 'body' | 'args',
  isWanted: (example: CallExample) => boolean = () => true,
): CallExample | null {
  const stated = [...of.row.examples, ...of.doc.ex].flatMap((text) => toCall(compiled, of, text, form) ?? []);
  const wanted = stated.find(isWanted);
  if (wanted !== undefined) return wanted;
  const derived = deriveCall(compiled, of);
  return derived !== null && isWanted(derived) ? derived : null;
}

function toCall(compiled: CompiledSchema | undefined, of: ArgumentRow, body: string, form: 'body' | 'args') {
  if (compiled === undefined) return toStringCall(of, body, form);
  const read = readBySchema(compiled, { body });
  if (read.errors.length > 0) return null;
  return form === 'body' ? { key: of.row.key, body } : { key: of.row.key, args: read.arguments.named };
}

function toStringCall(of: ArgumentRow, body: string, form: 'body' | 'args'): CallExample {
  const { positional, named } = readStrings({ body }, of.doc.args).arguments;
  const allNamed = positional.length > 0 && positional.length <= of.doc.args.length;
  return form === 'args' && allNamed ? { key: of.row.key, args: named } : { key: of.row.key, body };
}

function deriveCall(compiled: CompiledSchema | undefined, of: ArgumentRow): CallExample | null {
  if (compiled !== undefined) {
    const args = deriveExample(compiled);
    return args === null ? null : { key: of.row.key, args };
  }
  return of.row.examples.length + of.doc.ex.length + of.doc.args.length === 0 ? { key: of.row.key, body: '' } : null;
}
