import type { Attempt, Input } from '@rowcall/receipts';

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
}

/** Who asks. Made by the entrance that checked the credential, never from the caller's JSON. */
export interface Caller {
  readonly actor: string;
  /** W3C trace context that came with the request. */
  readonly traceparent: string | null;
}

/** A call on its way to a runner, as the queue keeps it. */
export interface QueuedCall {
  readonly id: string;
  readonly trace: string;
  readonly key: string;
  readonly input: Input;
  readonly actor: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** Version of the row when the call was queued: it runs at this one or a newer one. */
  readonly rowVersion: number;
  readonly expectContract: string | null;
  readonly onBehalfOf: string | null;
  readonly reason: string | null;
  readonly traceparent: string | null;
}

/** What of a call goes into the queue. */
export function toQueuedCall(attempt: Attempt, request: DispatchRequest, rowVersion: number): QueuedCall {
  const { id, trace, key, input, actor, startedAt, onBehalfOf, reason, traceparent } = attempt;
  const expectContract = request.expectContract ?? null;
  return { id, trace, key, input, actor, startedAt, rowVersion, expectContract, onBehalfOf, reason, traceparent };
}
