import type { Entry } from '@rowcall/catalogue';
import { parseAuth, type Arguments as RowArguments, toArguments } from '@rowcall/contract';
import { AppError, unreachable } from '@rowcall/errors';
import type { JsonObject, JsonValue, Outcome } from '@rowcall/protocol';
import type { Input } from '@rowcall/receipts';
import { renderHttpTemplate, renderJsonTemplate } from '@rowcall/substitution';
import { type Compiled, getCompiled, requireKnownNames } from './compiled.js';
import type { Deadline } from './deadline.js';
import { FunctionCall, type FunctionCaller, FunctionFailure } from './functions/call.js';
import type { FunctionRegistry } from './functions/registry.js';
import { toJsonResult } from './functions/registry.js';
import type { HttpCall, HttpRunner } from './http/types.js';

/** What a run gave. */
export interface RunResult {
  readonly outcome: Outcome;
  readonly result: { readonly value: JsonValue; readonly text: string };
  readonly upstream?: JsonObject | null;
  readonly error?: { readonly reason: string; readonly message: string };
}

/** What runs need of their process. */
export interface RunContext {
  readonly functions: FunctionRegistry;
  readonly http: HttpRunner;
  readonly now: () => number;
  readonly timeZone: string;
}

/** What a run would do, with nothing done: `missing` names the environment variables that it needs and that are not set. */
export interface Shape {
  readonly shape: JsonObject;
  readonly missing: readonly string[];
}

/** A run that is checked and ready: nothing has fired yet. */
export interface PreparedRun {
  /** A function that is done at once gives its result at once. */
  fire(signal: AbortSignal, caller: FunctionCaller): RunResult | Promise<RunResult>;
  /** @throws AppError credential_missing, as `fire` would. */
  requireCredential(): void;
  /** @throws AppError what `fire` would throw before anything is sent, a missing credential apart. */
  shape(): Shape;
}

/**
 * Checks the arguments and builds what the row would do, without doing it.
 * @throws AppError for whatever keeps the row from running: invalid_args, bad_json_value, type_unavailable …
 */
export function prepareRun(entry: Entry, input: Input, context: RunContext): PreparedRun {
  const compiled = getCompiled(entry);
  requireKnownNames(entry, compiled, input);
  const args = toArguments(compiled.schema, input, entry);
  switch (entry.row.type) {
    case 'fn':
      return prepareFunction(entry, { compiled, args, context });
    case 'http':
      return prepareHttp(entry, { compiled, args, context });
    case 'agent':
    case 'flow':
      throw new AppError(
        'type_unavailable',
        `rows of type ${entry.row.type} cannot run on this server; ${entry.row.key} is one`,
      );
    default:
      return unreachable(entry.row.type);
  }
}

interface Prepared {
  readonly compiled: Compiled;
  readonly args: RowArguments;
  readonly context: RunContext;
}

function prepareFunction({ row }: Entry, { compiled, args, context }: Prepared): PreparedRun {
  const definition = context.functions.find(row.target);
  if (definition === undefined || compiled.functionTemplate === undefined) {
    throw new AppError('invalid_row', `${row.key} names the function ${row.target}, which this server does not have`);
  }
  const rendered = trimMissing(renderJsonTemplate(compiled.functionTemplate, args));
  const parsed = definition.input.safeParse(rendered);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new AppError('invalid_args', `argument ${Number(issue?.path[0] ?? 0) + 1} of ${row.key}: ${issue?.message}`);
  }
  const fire = (signal: AbortSignal, caller: FunctionCaller): RunResult | Promise<RunResult> => {
    const call = new FunctionCall(signal, context, { call: caller, limits: row.limits });
    try {
      const value = definition.run(parsed.data, call);
      if (!isThenable(value)) return toSucceeded(value);
      return call
        .race(value)
        .then(toSucceeded)
        .catch((error: unknown) => toFailedFunction(error, call));
    } catch (error) {
      return toFailedFunction(error, call);
    }
  };
  return {
    fire,
    requireCredential: () => undefined,
    shape: () => ({ shape: { function: row.target, arguments: rendered }, missing: [] }),
  };
}

/** A template's missing arguments are empty strings; behind the last one given they are no arguments at all. */
function trimMissing(rendered: JsonValue): JsonValue {
  if (!Array.isArray(rendered)) return [rendered];
  const values = [...(rendered as readonly JsonValue[])];
  while (values.length > 1 && values.at(-1) === '') values.pop();
  return values;
}

/** A promise of another library is one as well. */
const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';

const NOTHING = { value: null, text: 'null' } as const;

const toSucceeded = (value: unknown): RunResult => ({ outcome: 'succeeded', result: toJsonResult(value) });

/** @throws AppError what the function refused. */
function toFailedFunction(error: unknown, deadline: Deadline): RunResult {
  if (error instanceof AppError) throw error;
  const reason = deadline.expired;
  if (reason === 'cancelled') return failure('cancelled', reason, 'the call was cancelled');
  if (reason === 'function_timeout')
    return failure('timed_out', reason, `the function took longer than ${deadline.timeoutMs} ms`);
  if (error instanceof FunctionFailure) {
    const { code, message, result } = error;
    return { ...failure(toOutcome(code), code, message), result: toJsonResult(result) };
  }
  return failure('failed', 'function_failed', toMessage(error));
}

/** What a function throws may be anything: a message that is no text, or an object that cannot be written as one. */
function toMessage(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return 'the function threw what has no text';
  }
}

const failure = (outcome: Outcome, reason: string, message: string): RunResult => ({
  outcome,
  result: NOTHING,
  error: { reason, message },
});

function prepareHttp({ row, effect }: Entry, { compiled, args, context }: Prepared): PreparedRun {
  if (compiled.httpTemplate === undefined) throw new AppError('invalid_row', `${row.key} has no request template`);
  const request = renderHttpTemplate(compiled.httpTemplate, args);
  const call: HttpCall = { ...request, auth: parseAuth(row.auth), effect, limits: row.limits };
  return {
    fire: (signal) => fireHttp(context.http, call, signal),
    requireCredential: () => context.http.requireCredential(call.auth),
    shape: () => context.http.shape(call),
  };
}

async function fireHttp(http: HttpRunner, call: HttpCall, signal: AbortSignal): Promise<RunResult> {
  const outcome = await http.run(call, signal);
  const result = { value: outcome.result, text: JSON.stringify(outcome.result) };
  const upstream = outcome.upstream as JsonObject | null;
  if (outcome.ok) return { outcome: 'succeeded', result, upstream };
  const { code, message } = outcome.error ?? { code: 'upstream_failed', message: 'the upstream call failed' };
  return { outcome: toOutcome(code), result, upstream, error: { reason: code, message } };
}

function toOutcome(code: string): Outcome {
  if (code === 'upstream_timeout') return 'timed_out';
  return code === 'cancelled' ? 'cancelled' : 'failed';
}
