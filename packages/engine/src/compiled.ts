import type { Entry } from '@rowcall/catalogue';
import { type CompiledSchema, compileInputSchema } from '@rowcall/contract';
import { AppError } from '@rowcall/errors';
import {
  type Diagnostic,
  type HttpTemplate,
  type JsonTemplate,
  type ParseResult,
  parseHttpTemplate,
  parseJsonTemplate,
} from '@rowcall/substitution';

/** What is prepared once per row version, at its first call. */
export interface Compiled {
  readonly schema: CompiledSchema | undefined;
  /** Arguments of an fn row. */
  readonly functionTemplate: JsonTemplate | undefined;
  /** Request of an http row. */
  readonly httpTemplate: HttpTemplate | undefined;
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

function compile({ row, payload }: Entry): Compiled {
  return {
    schema: row.input_schema === null ? undefined : getSchema(row.key, row.input_schema),
    functionTemplate:
      row.type === 'fn' ? getParsed(row.key, parseJsonTemplate(payload.trim() || DEFAULT_FUNCTION_PAYLOAD)) : undefined,
    httpTemplate:
      row.type === 'http'
        ? getParsed(
            row.key,
            parseHttpTemplate({
              target: row.target,
              headers: row.headers,
              payload,
              allowedHosts: row.limits?.hosts ?? [],
            }),
          )
        : undefined,
  };
}

function getSchema(key: string, schema: NonNullable<Entry['row']['input_schema']>): CompiledSchema {
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
