import { AppError } from '@rowcall/errors';
import type { RowWrite } from '@rowcall/protocol';
import { parseHttpTemplate, parseJsonTemplate } from '@rowcall/substitution';
import { parseAuth } from './auth.js';
import { type Docstring, parseDocstring } from './docstring.js';
import { type CompiledSchema, compileInputSchema } from './input-schema.js';
import { readBySchema } from './read-arguments.js';

/** Names of the hygiene rules. */
export const HYGIENE_CODES = [
  'missing_description',
  'high_risk_missing_schema',
  'keyless_missing_examples',
  'bad_input_schema',
  'bad_examples',
  'bad_template',
  'missing_target',
  'bad_auth',
] as const;
/** The name of a hygiene rule. */
export type HygieneCode = (typeof HYGIENE_CODES)[number];

/** One way in which a row breaks the hygiene rules. */
export interface Violation {
  readonly code: HygieneCode;
  readonly message: string;
  /** What the row's author does about it. */
  readonly fix: string;
}

/** The columns that the rules look at. */
export type HygieneColumns = Pick<
  RowWrite,
  'type' | 'target' | 'auth' | 'content' | 'input_schema' | 'examples' | 'sensitive' | 'headers' | 'limits'
>;

/** All hygiene rules that a row breaks, as it would be stored; empty when it is compliant. Several may share a code. */
export function checkHygiene(row: HygieneColumns): Violation[] {
  const { doc, payload } = parseDocstring(row.content, row.type);
  const compiled = row.input_schema === null ? undefined : compileInputSchema(row.input_schema);
  return [
    ...checkDescription(doc),
    ...checkRisk(row),
    ...checkProof(row, doc),
    ...(compiled === undefined || compiled.ok ? [] : [toSchemaViolation(compiled.message)]),
    ...(compiled?.ok ? checkExamples(compiled, [...row.examples, ...doc.ex]) : []),
    ...checkTarget(row),
    ...checkTemplate(row, payload),
    ...checkAuth(row),
  ];
}

function checkDescription(doc: Docstring): Violation[] {
  if (doc.what !== '') return [];
  return [
    {
      code: 'missing_description',
      message: 'the row does not say what it does',
      fix: 'begin content with a line: # WHAT: what a call does, in a sentence',
    },
  ];
}

function checkRisk(row: HygieneColumns): Violation[] {
  if (!row.sensitive || row.input_schema !== null) return [];
  return [
    {
      code: 'high_risk_missing_schema',
      message: 'the row is sensitive and has no input_schema',
      fix: 'set input_schema to a JSON Schema of the arguments, or sensitive to false',
    },
  ];
}

function checkProof(row: HygieneColumns, doc: Docstring): Violation[] {
  if ((row.auth ?? '').trim() !== '' || row.examples.length > 0 || doc.ex.length > 0) return [];
  return [
    {
      code: 'keyless_missing_examples',
      message: 'the row has neither auth nor an example',
      fix: 'add an argument string that works to examples, or a line: # EX: [KEY]arguments[/KEY]',
    },
  ];
}

const toSchemaViolation = (message: string): Violation => ({
  code: 'bad_input_schema',
  message,
  fix: 'correct input_schema; it is JSON Schema 2020-12, or draft-07 where $schema says so, with type object',
});

const SHOWN_CHARS = 80;

function checkExamples(compiled: CompiledSchema, examples: readonly string[]): Violation[] {
  return examples.flatMap((body) => {
    const [error] = readBySchema(compiled, { body }).errors;
    if (error === undefined) return [];
    const shown = JSON.stringify(body.length > SHOWN_CHARS ? `${body.slice(0, SHOWN_CHARS)}…` : body);
    return [
      {
        code: 'bad_examples' as const,
        message: `example ${shown} does not fit input_schema: ${error.pointer || 'arguments'} ${error.message}`,
        fix: `write arguments in the order ${compiled.order.join('|') || '(none)'}, or as one JSON object of named arguments`,
      },
    ];
  });
}

const TARGET_FORMS = { fn: 'the name of a function', http: 'METHOD URL', agent: 'a model id' } as const;

function checkTarget(row: HygieneColumns): Violation[] {
  if (row.type === 'flow' || row.target.trim() !== '') return [];
  return [
    {
      code: 'missing_target',
      message: `the ${row.type} row has no target`,
      fix: `set target to ${TARGET_FORMS[row.type]}`,
    },
  ];
}

function checkTemplate(row: HygieneColumns, payload: string): Violation[] {
  const parsed = parseTemplate(row, payload);
  if (parsed === undefined || parsed.ok) return [];
  return parsed.diagnostics.map(({ place, message, line, column, excerpt }) => ({
    code: 'bad_template',
    message: `${place}, line ${line}, column ${column}: ${message}\n${excerpt}`,
    fix: `correct ${place} where the caret stands`,
  }));
}

function parseTemplate(row: HygieneColumns, payload: string) {
  if (row.type === 'http' && row.target.trim() !== '') {
    const { target, limits } = row;
    return parseHttpTemplate({ target, headers: row.headers ?? {}, payload, allowedHosts: limits?.hosts ?? [] });
  }
  return row.type === 'fn' && payload.trim() !== '' ? parseJsonTemplate(payload) : undefined;
}

function checkAuth(row: HygieneColumns): Violation[] {
  try {
    parseAuth(row.auth);
    return [];
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return [{ code: 'bad_auth', message: error.message, fix: error.fix }];
  }
}
