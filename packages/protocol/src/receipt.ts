import type { RowType } from './row.js';

/** How an attempt ended. */
export const OUTCOMES = ['succeeded', 'failed', 'denied', 'timed_out', 'cancelled', 'interrupted'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** What a receipt proves. */
export const PROOF_STATUSES = ['PROVEN_MATERIAL_RESULT', 'PROVEN_ATTEMPT_NO_MATERIAL_RESULT'] as const;
export type ProofStatus = (typeof PROOF_STATUSES)[number];

/** One attempt to run a row, as it is kept for ever. Hashes are lower-case hex SHA-256 (FIPS 180-4). */
export interface Receipt {
  readonly id: string;
  readonly trace: string;
  /** Receipt of the call that made this one; null for the first of a trace. */
  readonly parent: string | null;
  /** Position in the parent, from 1; null outside flows. */
  readonly step: number | null;
  /** The key as it was asked for, known or not. */
  readonly key: string;
  /** Null when no row had the key. */
  readonly type: RowType | null;
  readonly row_version: number | null;
  /** Where it ran: `inline`, or a lane; null when nothing ran. */
  readonly lane: string | null;
  /** `owner`, `cap:…`, `mcp:…`, `schedule:…`. */
  readonly actor: string;
  /** RFC 3339. */
  readonly started_at: string;
  /** RFC 3339. */
  readonly finished_at: string;
  readonly outcome: Outcome;
  readonly status: ProofStatus;
  readonly material: boolean;
  readonly input_hash: string;
  /** Null when nothing ran. */
  readonly output_hash: string | null;
  /** Fingerprint of the row that ran; null when no row had the key. */
  readonly contract_fingerprint: string | null;
  /** The literal reason, such as `upstream_404` or `unknown_key`; null on success. */
  readonly error: string | null;
  readonly error_message: string | null;
  readonly tokens_in: number;
  readonly tokens_out: number;
  readonly tokens_cached: number;
  readonly cost_usd: number;
  readonly replay_of: string | null;
  readonly repairs: string | null;
  readonly on_behalf_of: string | null;
  readonly reason: string | null;
  /** The caller's W3C trace context, as it came. */
  readonly traceparent: string | null;
  /** The ask that the call followed, as its caller named it: nothing says that there is one. */
  readonly ask_id: string | null;
}

/** What a receipt keeps apart, redacted, with its own retention. Each member is a JSON text. */
export interface ReceiptPayload {
  readonly receipt_id: string;
  readonly request: string;
  /** True when a secret was cut from the request: it cannot be replayed. */
  readonly request_redacted: boolean;
  readonly result: string | null;
  readonly result_redacted: boolean;
  readonly upstream: string | null;
}

/**
 * How an opened call ends. `fired`: it ran, or may have. `unfired`: nothing was run, and its Idempotency-Key is free
 * again. `unqueued`: as `unfired`, unless it is no longer open, for then it was queued after all: no receipt is written.
 */
export type Closing = 'fired' | 'unfired' | 'unqueued';

/** A receipt with its payload, ready to be written. */
export interface ReceiptRecord {
  readonly receipt: Receipt;
  readonly payload: ReceiptPayload;
  /** Given for a call that was opened: the receipt takes the place of the opened record. */
  readonly opened?: Closing;
}
