import { AppError } from '@rowcall/errors';
import { isJsonObject, type JsonArray, type JsonValue, parseJson } from '@rowcall/protocol';
import { z } from 'zod';
import { integer, json, requireText, text } from './input.js';
import { parseJsonPath } from './json-path.js';
import { defineFunction, type FunctionDefinition } from './registry.js';

const isArray = (value: JsonValue): value is JsonArray => Array.isArray(value);
const ARRAY_INDEX = /^(0|[1-9][0-9]{0,8})$/;

function findMember(value: JsonValue | undefined, step: string): JsonValue | undefined {
  if (value === undefined) return undefined;
  if (isArray(value)) return ARRAY_INDEX.test(step) ? value[Number(step)] : undefined;
  return isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
}

/** The value with one place in it set; shares with the old one what did not change. */
function setAt(value: JsonValue, steps: readonly string[], member: JsonValue): JsonValue {
  const [step, ...rest] = steps;
  if (step === undefined) return member;
  const old = findMember(value, step);
  if (rest.length > 0 && old === undefined) throw noPlace(step);
  const inner = rest.length === 0 ? member : setAt(old ?? null, rest, member);
  if (isArray(value)) return setElement(value, step, inner);
  if (isJsonObject(value)) return Object.fromEntries([...Object.entries(value), [step, inner]]);
  throw noPlace(step);
}

/** `-` and the length stand for behind the last element, as in RFC 6902. */
function setElement(values: JsonArray, step: string, element: JsonValue): JsonArray {
  const index = step === '-' ? values.length : Number(ARRAY_INDEX.test(step) ? step : Number.NaN);
  if (!(index <= values.length)) throw noPlace(step);
  return [...values.slice(0, index), element, ...values.slice(index + 1)];
}

const noPlace = (step: string): AppError =>
  new AppError('invalid_args', `the value has no place ${JSON.stringify(step.slice(0, 80))} to set`);

/** RFC 7396. Members are set as a map's, so that no name can reach a prototype. */
function mergePatch(target: JsonValue, patch: JsonValue): JsonValue {
  if (!isJsonObject(patch)) return patch;
  const members = new Map(isJsonObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) members.delete(name);
    else members.set(name, mergePatch(members.get(name) ?? null, value));
  }
  return Object.fromEntries(members);
}

/** Members of an object, elements of an array. @throws AppError invalid_args for any other value. */
function namesOf(value: JsonValue): string[] {
  if (typeof value === 'object' && value !== null) return Object.keys(value);
  throw new AppError('invalid_args', 'argument 1 is neither a JSON object nor an array');
}

const get = defineFunction({
  name: 'JSON_GET',
  what: 'The value at a path in a JSON value; null where there is none.',
  effect: 'read',
  input: z.tuple([json, text.optional()]),
  run: ([value, path = '']) => parseJsonPath(path).reduce<JsonValue | undefined>(findMember, value) ?? null,
});

const set = defineFunction({
  name: 'JSON_SET',
  what: 'A JSON value with the place at a path set to another JSON value.',
  effect: 'read',
  input: z.tuple([json, text, json]),
  run: ([value, path, member]) => setAt(value, parseJsonPath(path), member),
});

const merge = defineFunction({
  name: 'JSON_MERGE',
  what: 'A JSON value changed by a merge patch (RFC 7396): null removes a member.',
  effect: 'read',
  input: z.tuple([json, json]),
  run: ([target, patch]) => mergePatch(target, patch),
});

const keys = defineFunction({
  name: 'JSON_KEYS',
  what: 'Names of the members of a JSON object, or indexes of an array.',
  effect: 'read',
  input: z.tuple([json]),
  run: ([value]) => namesOf(value),
});

const length = defineFunction({
  name: 'JSON_LENGTH',
  what: 'How many members a JSON object has, or elements an array.',
  effect: 'read',
  input: z.tuple([json]),
  run: ([value]) => namesOf(value).length,
});

const format = defineFunction({
  name: 'JSON_FORMAT',
  what: 'JSON text of a value, indented by a number of spaces; 0 for one line.',
  effect: 'read',
  input: z.tuple([json, integer.pipe(z.int().min(0).max(8)).optional()]),
  run([value, indent = 2]) {
    const formatted = JSON.stringify(value, undefined, indent);
    requireText(formatted.length);
    return formatted;
  },
});

const valid = defineFunction({
  name: 'JSON_VALID',
  what: 'Whether a text is JSON (RFC 8259).',
  effect: 'read',
  input: z.tuple([text]),
  run: ([value]) => parseJson(value) !== undefined,
});

const listed = z.union([z.string(), z.number(), z.boolean()], 'must be a list of texts');

const join = defineFunction({
  name: 'JOIN',
  what: 'The texts of a list as one text, with a separator between them.',
  effect: 'read',
  input: z.tuple([json.pipe(z.array(listed, 'must be a list of texts')), text.optional()]),
  run([list, separator = '']) {
    const texts = list.map(String);
    requireText(texts.reduce((sum, { length }) => sum + length, 0) + separator.length * Math.max(0, texts.length - 1));
    return texts.join(separator);
  },
});

/** Functions of JSON. A value may be given as JSON text. */
export const JSON_FUNCTIONS: readonly FunctionDefinition[] = [get, set, merge, keys, length, format, valid, join];
