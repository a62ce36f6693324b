import { AppError } from '@rowcall/errors';
import type { JsonValue, Limits } from '@rowcall/protocol';
import type { Call, Caller } from '../call.js';
import { Deadline } from '../deadline.js';
import type { FunctionContext } from './registry.js';

/** The call that a function runs in. */
export type FunctionCaller = Pick<Call, 'id' | 'trace' | 'actor' | 'reason' | 'caller'>;

/** What a {@link FunctionCall} takes from its process. */
export interface FunctionProcess {
  readonly now: () => number;
  readonly timeZone: string;
}

let getCall: (context: FunctionCall) => FunctionCaller;

/** How long, in ms, a function may take when its row says nothing. */
const FUNCTION_TIMEOUT_MS = 30_000;

/** One call of a function: its time, and what it may see of its surroundings. One object, whose parts are made when asked for. */
export class FunctionCall extends Deadline implements FunctionContext {
  readonly now: () => number;
  readonly timeZone: string;
  readonly actor: string;
  readonly reason: string | null;
  readonly limits: Limits | null;
  /** For the protocol's own verbs, which act with the caller's authority. */
  readonly #call: FunctionCaller;

  static {
    getCall = (context) => context.#call;
  }

  constructor(
    cancelled: AbortSignal,
    { now, timeZone }: FunctionProcess,
    { call, limits }: { readonly call: FunctionCaller; readonly limits: Limits | null },
  ) {
    super(cancelled, limits?.timeout_ms ?? FUNCTION_TIMEOUT_MS);
    this.now = now;
    this.timeZone = timeZone;
    this.actor = call.actor;
    this.reason = call.reason;
    this.limits = limits;
    this.#call = call;
  }
}

/** The call that a function runs in. */
export function callOf(context: FunctionContext): FunctionCaller {
  if (!(context instanceof FunctionCall)) throw new TypeError('the function was not called through a row');
  return getCall(context);
}

/** Calls within calls, at the most. */
const DEPTH_MAX = 8;

/** Who makes a call from within a function: the function's caller, with no more authority. @throws AppError too_deep. */
export function toNestedCaller(context: FunctionContext): Caller {
  const { id, trace, caller } = callOf(context);
  const depth = (caller.parent?.depth ?? 0) + 1;
  if (depth > DEPTH_MAX) throw new AppError('too_deep', `calls nest ${DEPTH_MAX} deep at the most`);
  return { ...caller, parent: { id, trace, depth } };
}

/** A run of a function that failed in a way that has a name, such as `upstream_404`; what there is of a result is kept. */
export class FunctionFailure extends Error {
  override readonly name = 'FunctionFailure';
  readonly code: string;
  readonly result: JsonValue;

  constructor(code: string, message: string, result: JsonValue) {
    super(message);
    this.code = code;
    this.result = result;
  }
}
