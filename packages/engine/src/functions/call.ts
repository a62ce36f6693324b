import type { JsonValue, Limits } from '@rowcall/protocol';
import { Deadline } from '../deadline.js';
import type { FunctionContext } from './registry.js';

/** Who calls a function, and why. */
export interface FunctionCaller {
  readonly actor: string;
  readonly reason: string | null;
}

/** What a {@link FunctionCall} takes from its process. */
export interface FunctionProcess {
  readonly now: () => number;
  readonly timeZone: string;
}

/** How long, in ms, a function may take when its row says nothing. */
const FUNCTION_TIMEOUT_MS = 30_000;

/** One call of a function: its time, and what it may see of its surroundings. One object, whose parts are made when asked for. */
export class FunctionCall extends Deadline implements FunctionContext {
  readonly now: () => number;
  readonly timeZone: string;
  readonly actor: string;
  readonly reason: string | null;
  readonly limits: Limits | null;

  constructor(
    cancelled: AbortSignal,
    { now, timeZone }: FunctionProcess,
    call: FunctionCaller & { readonly limits: Limits | null },
  ) {
    super(cancelled, call.limits?.timeout_ms ?? FUNCTION_TIMEOUT_MS);
    this.now = now;
    this.timeZone = timeZone;
    this.actor = call.actor;
    this.reason = call.reason;
    this.limits = call.limits;
  }
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
