import { isJsonObject, type JsonObject, type JsonValue, parseJson, type Row } from '@rowcall/protocol';
import { type Arguments, splitBody } from '@rowcall/substitution';
import { coerceText } from './coerce-text.js';
import type { ArgumentDoc, Docstring } from './docstring.js';
import type { CompiledSchema } from './input-schema.js';
import { toProperties, toStrings } from './schema-keywords.js';
import type { SchemaError } from './schema-validator.js';

/** The two forms in which a caller may send arguments. */
export type ArgumentInput = { readonly body: string } | { readonly args: JsonObject };

/** What of a row is needed to read its arguments, and to show a call that works. */
export interface ArgumentRow {
  readonly row: Pick<Row, 'key' | 'examples'>;
  readonly doc: Pick<Docstring, 'args' | 'ex'>;
}

/** Arguments that were read, and what is wrong with them; empty when nothing is. */
export interface ReadArguments {
  readonly arguments: Arguments;
  readonly errors: readonly SchemaError[];
}

/** Reads arguments by a schema without throwing: what hygiene and examples need. */
export function readBySchema(compiled: CompiledSchema, input: ArgumentInput): ReadArguments {
  if ('args' in input) return readNamed(compiled, input.args);
  const pieces = readPieces(compiled, input.body);
  if (pieces.errors.length === 0) return pieces;
  const whole = parseJson(input.body);
  if (!isJsonObject(whole)) return pieces;
  const named = readNamed(compiled, whole);
  return named.errors.length === 0 ? named : pieces;
}

function readNamed(compiled: CompiledSchema, named: JsonObject): ReadArguments {
  const positional = toPositional(compiled.order, named);
  return {
    arguments: { positional, named, positionNames: compiled.order },
    errors: compiled.validate(named),
  };
}

function readPieces(compiled: CompiledSchema, body: string): ReadArguments {
  const { order, schema } = compiled;
  const positional = splitBody(body);
  const required = new Set(toStrings(schema.required));
  const properties = toProperties(schema);
  const members: [string, JsonValue][] = [];
  const errors: SchemaError[] = [];
  if (positional.length > order.length) errors.push(toSurplusError(positional.length, order));
  for (const [index, name] of order.entries()) {
    const piece = positional[index];
    if (piece === undefined) break;
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const coerced = coerceText(schema, property, piece);
    if (!coerced.ok) errors.push({ pointer: toPointer(name), rule: 'type', message: coerced.message });
    else if (coerced.value !== '' || (required.has(name) && piece === '')) members.push([name, coerced.value]);
  }
  const named = Object.fromEntries(members);
  return {
    arguments: { positional, named, positionNames: order },
    errors: errors.length > 0 ? errors : compiled.validate(named),
  };
}

const toPointer = (name: string) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;

function toSurplusError(count: number, order: readonly string[]): SchemaError {
  const names = order.length === 0 ? 'none' : `${order.length} by position (${order.join(', ')})`;
  return {
    pointer: '',
    rule: 'x-arg-order',
    message: `are ${count} in the body, but the row takes ${names}: send args, an object, where a value holds |`,
  };
}

/** Named values by position, as texts; a gap is an empty text. */
function toPositional(order: readonly string[], named: JsonObject): string[] {
  const values = order.map((name) => (name !== '' && Object.hasOwn(named, name) ? named[name] : undefined));
  const length = values.findLastIndex((value) => value !== undefined) + 1;
  return values.slice(0, length).map((value = '') => (typeof value === 'string' ? value : JSON.stringify(value)));
}

/** Reads the arguments of a row without a schema, without throwing. */
export function readStrings(input: ArgumentInput, docs: readonly ArgumentDoc[]): ReadArguments {
  const names = getPositionNames(docs);
  if ('args' in input) return readStringArgs(input.args, names);
  const positional = splitBody(input.body);
  const given = docs.filter(({ position }) => position <= positional.length);
  const named = Object.fromEntries(given.map((doc) => [doc.name, toDocumented(doc, positional)]));
  return { arguments: { positional, named, positionNames: names }, errors: NO_ERRORS };
}

const NO_ERRORS: readonly SchemaError[] = [];

function toDocumented({ position, openEnded }: ArgumentDoc, positional: readonly string[]): string {
  if (openEnded) return positional.slice(position - 1).join('|');
  return positional[position - 1] ?? '';
}

function readStringArgs(args: JsonObject, names: readonly string[]): ReadArguments {
  const errors = Object.entries(args)
    .filter(([, value]) => typeof value !== 'string')
    .slice(0, 20)
    .map(([name]) => ({
      pointer: toPointer(name),
      rule: 'type',
      message: 'must be a string: a row without a schema takes strings',
    }));
  return { arguments: { positional: toPositional(names, args), named: args, positionNames: names }, errors };
}

const positionNames = new WeakMap<readonly ArgumentDoc[], readonly string[]>();

/** Documented names by position, made once for each docstring. */
function getPositionNames(docs: readonly ArgumentDoc[]): readonly string[] {
  const known = positionNames.get(docs);
  if (known !== undefined) return known;
  const made = toPositionNames(docs);
  positionNames.set(docs, made);
  return made;
}

/** Positions that are not documented have an empty name. */
function toPositionNames(docs: readonly ArgumentDoc[]): string[] {
  const names: string[] = [];
  for (const { position, name } of docs) {
    while (names.length < position - 1) names.push('');
    names.push(name);
  }
  return names;
}
