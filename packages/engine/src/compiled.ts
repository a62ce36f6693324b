import type { Entry } from '@rowcall/catalogue';
import { type CompiledSchema, compileInputSchema } from '@rowcall/contract';
import { AppError } from '@rowcall/errors';
import type { JsonObject } from '@rowcall/protocol';
import type { Input } from '@rowcall/receipts';
import {
  type Diagnostic,
  type HttpTemplate,
  type JsonTemplate,
  type ParseResult,
  parseHttpTemplate,
  parseJsonTemplate,
  usedArguments,
} from '@rowcall/substitution';

/** What is prepared once per row version, at its first call. */
export interface Compiled {
  readonly schema: CompiledSchema | undefined;
  /** Arguments of an fn row. */
  readonly functionTemplate: JsonTemplate | undefined;
  /** Request of an http row. */
  readonly httpTemplate: HttpTemplate | undefined;
  /** Names that a row without a schema takes: documented, or used by its template. Undefined when it takes any. */
  readonly argumentNames: ReadonlySet<string> | undefined;
}

const compiled = new WeakMap<Entry, Compiled>();

/** Arguments of an fn row that has no payload: its first one. */
const DEFAULT_FUNCTION_PAYLOAD = '["$1"]';

/**
 * Gives what is prepared for a row.
 * @throws AppError invalid_row when the stored row does not parse, which only a change in plain SQL can bring about.
 */
export function getCompiled(entry: Entry): Compiled {
  const known = compiled.get(entry);
  if (known !== undefined) return known;
  const made = compile(entry);
  compiled.set(entry, made);
  return made;
}

function compile(entry: Entry): Compiled {
  const { row, doc, payload, inputSchema } = entry;
  const functionTemplate =
    row.type === 'fn' ? getParsed(row.key, parseJsonTemplate(payload.trim() || DEFAULT_FUNCTION_PAYLOAD)) : undefined;
  const { target, headers, limits } = row;
  const httpTemplate =
    row.type === 'http'
      ? getParsed(row.key, parseHttpTemplate({ target, headers, payload, allowedHosts: limits?.hosts ?? [] }))
      : undefined;
  const template = functionTemplate ?? httpTemplate;
  const used = template === undefined ? undefined : usedArguments(template);
  const takesAny = inputSchema !== null || used === undefined || used.all;
  return {
    schema: inputSchema === null ? undefined : getSchema(row.key, inputSchema),
    functionTemplate,
    httpTemplate,
    argumentNames: takesAny ? undefined : new Set([...doc.args.map(({ name }) => name), ...used.names]),
  };
}

/** Names that one refusal lists. */
const LISTED_MAX = 20;

/**
 * Refuses named arguments that a row without a schema would ignore: a misspelt name must not look like an answer.
 * @throws AppError invalid_args with the names that there are.
 */
export function requireKnownNames({ row }: Entry, { argumentNames }: Compiled, input: Input): void {
  if (argumentNames === undefined || !('args' in input)) return;
  const strange = Object.keys(input.args).filter((name) => !argumentNames.has(name));
  if (strange.length === 0) return;
  const names = argumentNames.size === 0 ? 'none by name: send body' : [...argumentNames].join(', ');
  const listed = strange.slice(0, LISTED_MAX).map((name) => name.slice(0, 64));
  throw new AppError('invalid_args', `${row.key} has no argument ${listed.join(', ')}; it takes ${names}`, {
    details: {
      errors: listed.map((name) => ({
        pointer: `/${name}`,
        rule: 'additionalProperties',
        message: 'is not an argument',
      })),
    },
  });
}

function getSchema(key: string, schema: JsonObject): CompiledSchema {
  const result = compileInputSchema(schema);
  if (result.ok) return result;
  throw new AppError('invalid_row', `the input_schema of ${key} does not compile: ${result.message}`);
}

function getParsed<T>(key: string, result: ParseResult<T>): T {
  if (result.ok) return result.value;
  throw new AppError('invalid_row', `the template of ${key} does not parse: ${toText(result.diagnostics)}`);
}

const toText = (diagnostics: readonly Diagnostic[]): string =>
  diagnostics.map(({ place, message, line, column }) => `${place} ${line}:${column} ${message}`).join('; ');
