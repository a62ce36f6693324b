import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@rowcall/protocol';
import { type JsonType, toJsonTypes } from './schema-keywords.js';

/** A text as the type that a schema asks for, or why that would change its meaning. */
export type CoercedText =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly message: string };

/** RFC 8259, `number`. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * Turns one piece of a body into the type that its schema names: numbers, booleans and null in the words of JSON, arrays
 * and objects from JSON text, strings as they are. Where a schema allows several types, the one that the text is written
 * as wins, and `null` means null only where no string is allowed. A text that is none of them is left for the check to refuse.
 */
export function coerceText(root: JsonObject, subschema: JsonValue | undefined, text: string): CoercedText {
  const types = toJsonTypes(root, subschema);
  const trimmed = text.trim();
  const takesNumber = types.has('integer') || types.has('number');
  if (takesNumber && NUMBER.test(trimmed)) return toSafeNumber(trimmed, types);
  if (types.has('boolean') && (trimmed === 'true' || trimmed === 'false')) return toOk(trimmed === 'true');
  if (types.has('null') && trimmed === 'null' && !types.has('string')) return toOk(null);
  return toOk(toContainer(types, text) ?? text);
}

function toContainer(types: ReadonlySet<JsonType>, text: string): JsonValue | undefined {
  if (!types.has('array') && !types.has('object')) return undefined;
  const value = parseJson(text);
  if (Array.isArray(value)) return types.has('array') ? value : undefined;
  return isJsonObject(value) && types.has('object') ? value : undefined;
}

const toOk = (value: JsonValue): CoercedText => ({ ok: true, value });

function toSafeNumber(text: string, types: ReadonlySet<JsonType>): CoercedText {
  const value = Number(text);
  const exact =
    Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value) || /[.eE]/.test(text));
  if (exact) return toOk(value);
  if (types.has('string')) return toOk(text);
  return { ok: false, message: 'is beyond the numbers that JSON carries exactly (2^53 - 1)' };
}
