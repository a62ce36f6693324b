import type { JsonObject, JsonValue } from '@rowcall/protocol';
import { findJsonExcess, toProperties, toStrings } from './schema-keywords.js';
import { compileValidator, type SchemaDraft, type SchemaError } from './schema-validator.js';

/** UTF-16 code units that the JSON text of a schema may have. */
export const SCHEMA_CHARS_MAX = 524_288;

/** A row's `input_schema`, ready to check arguments. */
export interface CompiledSchema {
  readonly ok: true;
  readonly schema: JsonObject;
  /** Names of the arguments by position: `x-arg-order`, else `required`, else the order of `properties`. */
  readonly order: readonly string[];
  /**
   * Checks named arguments. Never throws and never takes unbounded time: arguments that would are answered with an error.
   *
   * @returns what is wrong, at most 20 errors; empty when the arguments fit
   */
  readonly validate: (args: JsonObject) => readonly SchemaError[];
}

/** Why a schema cannot be used, in words for the row's author. */
export interface SchemaRefusal {
  readonly ok: false;
  readonly message: string;
}

/**
 * Compiles a JSON Schema (2020-12; draft-07 where `$schema` says so). Formats are asserted; unknown keywords and formats
 * are allowed, as annotations. References lead to places within the schema only: nothing is ever fetched.
 *
 * Bounded: text at most 524,288 characters, 100,000 members, 128 deep, patterns at most 4,096 characters and never of
 * exponential time, at most 100,000 references followed in one check.
 */
export function compileInputSchema(schema: JsonObject): CompiledSchema | SchemaRefusal {
  const problem = findSchemaProblem(schema);
  if (problem !== undefined) return { ok: false, message: `input_schema ${problem}` };
  const compiled = compileValidator(schema, toDraft(schema.$schema) ?? '2020-12');
  if (!compiled.ok) return compiled;
  return { ok: true, schema, order: toOrder(schema), validate: compiled.validate };
}

function findSchemaProblem(schema: JsonObject): string | undefined {
  const excess = findJsonExcess(schema);
  if (excess !== undefined) return excess;
  if (JSON.stringify(schema).length > SCHEMA_CHARS_MAX) return `is longer than ${SCHEMA_CHARS_MAX} characters`;
  if (toDraft(schema.$schema) === undefined) return 'names a $schema that is neither JSON Schema 2020-12 nor draft-07';
  if (schema.$async !== undefined) return 'has $async, which is not JSON Schema: remove it';
  const types = typeof schema.type === 'string' ? [schema.type] : toStrings(schema.type);
  if (types.length > 0 && !types.includes('object')) return 'must have type object: arguments are a JSON object';
  return findOrderProblem(schema);
}

function findOrderProblem(schema: JsonObject): string | undefined {
  const order = schema['x-arg-order'];
  if (order === undefined) return undefined;
  const names = toStrings(order);
  if (!Array.isArray(order) || names.length !== order.length) return 'has an x-arg-order that is not a list of names';
  if (new Set(names).size !== names.length) return 'names an argument twice in x-arg-order';
  if (schema.additionalProperties !== false) return undefined;
  const unknown = names.find((name) => !Object.hasOwn(toProperties(schema), name));
  return unknown === undefined ? undefined : `names ${JSON.stringify(unknown)} in x-arg-order but not in properties`;
}

function toDraft(dialect: JsonValue | undefined): SchemaDraft | undefined {
  if (dialect === undefined) return '2020-12';
  if (typeof dialect !== 'string') return undefined;
  if (/^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/.test(dialect)) return '2020-12';
  return /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/.test(dialect) ? 'draft-07' : undefined;
}

function toOrder(schema: JsonObject): string[] {
  const stated = schema['x-arg-order'];
  if (stated !== undefined) return toStrings(stated);
  const required = [...new Set(toStrings(schema.required))];
  return required.length > 0 ? required : Object.keys(toProperties(schema));
}
