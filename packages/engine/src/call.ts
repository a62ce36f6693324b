import type { Chain } from '@rowcall/grants';
import type { Attempt, Input } from '@rowcall/receipts';
import type { IdempotencyClaim } from '@rowcall/store';

/** What a caller asks for. */
export interface DispatchRequest {
  readonly key: string;
  readonly input: Input;
  /** Fingerprint that the row must still have. */
  readonly expectContract?: string | undefined;
  /** Run every check, fire nothing, and answer what would be done. */
  readonly shape?: boolean | undefined;
  /** `async`: queue the call for a runner and answer at once. */
  readonly mode: 'sync' | 'async';
  readonly onBehalfOf?: string | undefined;
  readonly reason?: string | undefined;
  /** Receipt whose call is fired again. */
  readonly replayOf?: string | undefined;
  /** Receipt of the failed call that this one corrects. */
  readonly repairs?: string | undefined;
  /** The ask that the call follows. */
  readonly askId?: string | undefined;
  /** The caller knows that a replay or repair does again what changes the world. */
  readonly confirmed?: boolean | undefined;
  /** The caller's Idempotency-Key, claimed when the call begins. */
  readonly claim?: IdempotencyClaim | undefined;
}

/** Who asks. Made by the entrance that checked the credential, never from the caller's JSON. */
export interface Caller {
  readonly actor: string;
  /** W3C trace context that came with the request. */
  readonly traceparent: string | null;
  /** The caller's grant and those that it derives from; empty for the owner alone. */
  readonly chain: Chain;
  /** Whom the call comes from, for a grant that is bound to an audience. */
  readonly audience?: string | undefined;
  /** The call that makes this one. Nothing can wait for a person in the midst of it. */
  readonly parent?: { readonly id: string; readonly trace: string; readonly depth: number } | undefined;
}

/** One attempt with who makes it. */
export interface Call extends Attempt {
  readonly caller: Caller;
}

/** A call on its way to a runner or a person, as the database keeps it. */
export interface QueuedCall {
  readonly id: string;
  readonly trace: string;
  readonly parent: string | null;
  /** Calls that this one is made within; 0 for one of its own. */
  readonly depth: number;
  readonly key: string;
  readonly input: Input;
  readonly actor: string;
  /** Fingerprint of the caller's grant; null for the owner. */
  readonly grant: string | null;
  readonly audience: string | null;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly mode: DispatchRequest['mode'];
  /** Version of the row when the call was queued: it runs at this one or a newer one. */
  readonly rowVersion: number;
  readonly expectContract: string | null;
  readonly onBehalfOf: string | null;
  readonly reason: string | null;
  readonly traceparent: string | null;
  readonly replayOf: string | null;
  readonly repairs: string | null;
  /** Not there in a call that an older process queued. */
  readonly askId?: string | null;
}

/** What of a call goes into the queue. */
export function toQueuedCall(call: Call, request: DispatchRequest, rowVersion: number): QueuedCall {
  const { id, trace, parent, key, input, actor, startedAt, onBehalfOf, reason, traceparent, replayOf, repairs, askId } =
    call;
  return {
    id,
    trace,
    parent,
    depth: call.caller.parent?.depth ?? 0,
    key,
    input,
    actor,
    grant: call.caller.chain.at(-1)?.fingerprint ?? null,
    audience: call.caller.audience ?? null,
    startedAt,
    mode: request.mode,
    rowVersion,
    expectContract: request.expectContract ?? null,
    onBehalfOf,
    reason,
    traceparent,
    replayOf,
    repairs,
    askId,
  };
}

/** The attempt that a queued call is. */
export function toAttempt(call: QueuedCall): Attempt {
  const {
    id,
    trace,
    parent,
    key,
    input,
    actor,
    startedAt,
    onBehalfOf,
    reason,
    traceparent,
    replayOf,
    repairs,
    askId = null,
  } = call;
  return {
    id,
    trace,
    parent,
    step: null,
    key,
    input,
    actor,
    startedAt,
    onBehalfOf,
    reason,
    traceparent,
    replayOf,
    repairs,
    askId,
  };
}
