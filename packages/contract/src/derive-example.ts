import { isJsonObject, type JsonObject, type JsonValue } from '@rowcall/protocol';
import { toExampleNumber, toExampleText } from './example-scalars.js';
import type { CompiledSchema } from './input-schema.js';
import { type JsonType, resolveSubschema, toJsonTypes, toProperties, toStrings } from './schema-keywords.js';

const DEPTH_MAX = 8;
const VALUES_MAX = 500;
const ELEMENTS_MAX = 50;

/** State of one attempt. A schema can ask for more values than anyone would read; then the attempt ends without them. */
interface Attempt {
  readonly root: JsonObject;
  /** Whether optional members that bring an example of their own are shown too. */
  readonly showsOptional: boolean;
  valuesLeft: number;
}

/**
 * Makes named arguments that a schema accepts: from `const`, `examples`, `default` and `enum` where they are given, else
 * from type, format and bounds. Required arguments, and optional ones that bring an example of their own.
 *
 * @returns arguments that passed the check, or null where none could be found, as for most patterns
 */
export function deriveExample(compiled: CompiledSchema): JsonObject | null {
  const { schema } = compiled;
  const stated = Array.isArray(schema.examples) ? schema.examples.slice(0, 10) : [];
  const derived = [true, false].map((showsOptional) =>
    toValue({ root: schema, showsOptional, valuesLeft: VALUES_MAX }, schema, 0),
  );
  for (const candidate of [...stated, schema.default, ...derived]) {
    if (isJsonObject(candidate) && compiled.validate(candidate).length === 0) return candidate;
  }
  return null;
}

function toValue(attempt: Attempt, subschema: JsonValue | undefined, depth: number): JsonValue | undefined {
  attempt.valuesLeft -= 1;
  if (depth > DEPTH_MAX || attempt.valuesLeft < 0) return undefined;
  if (subschema === true) return 'example';
  const resolved = resolveSubschema(attempt.root, subschema);
  if (resolved === undefined) return undefined;
  const schema = toMerged(attempt.root, resolved);
  return toStated(schema) ?? toTyped(attempt, schema, depth);
}

/** A value that the schema itself gives. */
function toStated(schema: JsonObject): JsonValue | undefined {
  const first = (list: JsonValue | undefined) => (Array.isArray(list) ? list[0] : undefined);
  return schema.const ?? first(schema.examples) ?? schema.example ?? schema.default ?? first(schema.enum);
}

function toTyped(attempt: Attempt, schema: JsonObject, depth: number): JsonValue | undefined {
  switch (pickType(attempt.root, schema)) {
    case 'object':
      return toObject(attempt, schema, depth);
    case 'array':
      return toArray(attempt, schema, depth);
    case 'integer':
      return toExampleNumber(schema, 1);
    case 'number':
      return toExampleNumber(schema, undefined);
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return toExampleText(schema);
  }
}

function pickType(root: JsonObject, schema: JsonObject): JsonType | undefined {
  const types = [...toJsonTypes(root, schema)];
  if (types.length === 0 && schema.properties !== undefined) return 'object';
  return types.find((type) => type !== 'null') ?? types[0];
}

function toObject(attempt: Attempt, schema: JsonObject, depth: number): JsonObject {
  const properties = toProperties(schema);
  const names = new Set(toStrings(schema.required));
  if (attempt.showsOptional) {
    for (const [name, property] of Object.entries(properties)) if (bringsExample(property)) names.add(name);
  }
  const members: [string, JsonValue][] = [];
  for (const name of names) {
    const property = Object.hasOwn(properties, name) ? properties[name] : true;
    const value = toValue(attempt, property, depth + 1);
    if (value !== undefined) members.push([name, value]);
  }
  return Object.fromEntries(members);
}

const bringsExample = (property: JsonValue) =>
  isJsonObject(property) && (property.examples !== undefined || property.example !== undefined);

function toArray(attempt: Attempt, schema: JsonObject, depth: number): JsonValue[] {
  const length = Math.min(typeof schema.minItems === 'number' ? schema.minItems : 1, ELEMENTS_MAX);
  const heads = [schema.prefixItems, schema.items].find(Array.isArray) ?? [];
  const rest = Array.isArray(schema.items) ? true : (schema.items ?? true);
  const elements: JsonValue[] = [];
  for (let index = 0; index < Math.max(length, heads.length && length); index += 1) {
    const value = toValue(attempt, heads[index] ?? rest, depth + 1);
    if (value !== undefined) elements.push(value);
  }
  return elements;
}

/** The schema with its `allOf`, and the first usable branch of `anyOf` and `oneOf`, laid over each other. */
function toMerged(root: JsonObject, schema: JsonObject): JsonObject {
  const all = Array.isArray(schema.allOf) ? schema.allOf : [];
  const chosen = [schema.anyOf, schema.oneOf].map((list) =>
    Array.isArray(list) ? list.find((branch) => !(isJsonObject(branch) && branch.type === 'null')) : undefined,
  );
  const { allOf: _all, anyOf: _any, oneOf: _one, ...own } = schema;
  return [...all, ...chosen]
    .map((part) => resolveSubschema(root, part))
    .reduce<JsonObject>((merged, part) => (part === undefined ? merged : overlay(merged, part)), own);
}

function overlay(base: JsonObject, part: JsonObject): JsonObject {
  return {
    ...base,
    ...part,
    properties: { ...toProperties(base), ...toProperties(part) },
    required: [...toStrings(base.required), ...toStrings(part.required)],
  };
}
