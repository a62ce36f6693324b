import { isJsonObject, type JsonObject, type JsonValue } from '@rowcall/protocol';

/** Most members and elements that a schema, or the arguments checked against one, may have in all. */
export const JSON_NODES_MAX = 100_000;
/** Deepest nesting of a schema and of arguments. */
export const JSON_DEPTH_MAX = 128;

/** Tells what makes a JSON value too large to check, or undefined when it is within the limits. Does not recurse. */
export function findJsonExcess(value: JsonValue): string | undefined {
  let level: JsonValue[] = [value];
  let nodes = 1;
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > JSON_DEPTH_MAX) return `is nested more than ${JSON_DEPTH_MAX} deep`;
    const next: JsonValue[] = [];
    for (const parent of level) {
      if (typeof parent !== 'object' || parent === null) continue;
      for (const child of Object.values(parent)) next.push(child);
      if (nodes + next.length > JSON_NODES_MAX) return `has more than ${JSON_NODES_MAX} members`;
    }
    nodes += next.length;
    level = next;
  }
  return undefined;
}

/** Members and elements of a value, at every level. The value must be within the limits. */
export function countMembers(value: JsonValue): number {
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((sum, member) => sum + 1 + countMembers(member as JsonValue), 0);
}

/** Finds what a `$ref` within the document names: `#`, `#/a/b` (RFC 6901). Other references are not followed. */
export function findReference(root: JsonObject, reference: string): JsonValue | undefined {
  if (reference !== '#' && !reference.startsWith('#/')) return undefined;
  let node: JsonValue | undefined = root;
  for (const raw of reference.split('/').slice(1)) {
    const name = decodePointerSegment(raw);
    if (typeof node !== 'object' || node === null || name === undefined) return undefined;
    node = Object.hasOwn(node, name) ? (node as JsonObject)[name] : undefined;
  }
  return node;
}

function decodePointerSegment(raw: string): string | undefined {
  try {
    return decodeURIComponent(raw).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return undefined;
  }
}

const REFERENCES_MAX = 16;

/** A subschema as an object, its `$ref` followed; undefined where it is a boolean, dangling, or goes round in circles. */
export function resolveSubschema(root: JsonObject, subschema: JsonValue | undefined): JsonObject | undefined {
  let node = subschema;
  for (let hops = 0; hops <= REFERENCES_MAX; hops += 1) {
    if (!isJsonObject(node)) return undefined;
    if (typeof node.$ref !== 'string') return node;
    node = findReference(root, node.$ref);
  }
  return undefined;
}

/** The schemas of the named arguments: the own members of `properties`. */
export function toProperties(schema: JsonObject): JsonObject {
  return isJsonObject(schema.properties) ? schema.properties : {};
}

/** The strings of a keyword whose value is a list, such as `required`. */
export function toStrings(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((element): element is string => typeof element === 'string') : [];
}

/** Names that a schema accepts as types. */
export const JSON_TYPES = ['string', 'integer', 'number', 'boolean', 'null', 'array', 'object'] as const;
/** A name that a schema accepts as a type. */
export type JsonType = (typeof JSON_TYPES)[number];

const isJsonType = (name: string): name is JsonType => (JSON_TYPES as readonly string[]).includes(name);

/**
 * Which types a subschema lets through, as far as its keywords say: `type`, `nullable`, `const`, `enum`, and the branches of
 * `anyOf`, `oneOf` and `allOf`. Empty when nothing is said, which means any.
 */
export function toJsonTypes(root: JsonObject, subschema: JsonValue | undefined, depth = 0): ReadonlySet<JsonType> {
  const schema = resolveSubschema(root, subschema);
  if (schema === undefined || depth > 8) return new Set();
  const stated = typeof schema.type === 'string' ? [schema.type] : toStrings(schema.type);
  const types = new Set(stated.filter(isJsonType));
  if (types.size > 0) return schema.nullable === true ? types.add('null') : types;
  if (schema.const !== undefined) return new Set([toTypeOf(schema.const)]);
  if (Array.isArray(schema.enum)) return new Set(schema.enum.map(toTypeOf));
  const branches = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((list) => (Array.isArray(list) ? list : []));
  return new Set(branches.flatMap((branch) => [...toJsonTypes(root, branch, depth + 1)]));
}

function toTypeOf(value: JsonValue): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'boolean';
    case 'number':
      return 'number';
    default:
      return 'object';
  }
}
