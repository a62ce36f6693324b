import {
  type JsonObject,
  type JsonValue,
  type Outcome,
  type ReceiptRecord,
  type RowType,
  toCanonicalJson,
} from '@rowcall/protocol';
import { sha256 } from './hash.js';
import { isMaterial } from './material.js';

/** What a caller passed to a row: one string, or named arguments. */
export type Input = { readonly body: string } | { readonly args: JsonObject };

/** One attempt, as it is known before it ends. */
export interface Attempt {
  readonly id: string;
  readonly trace: string;
  readonly parent: string | null;
  readonly step: number | null;
  /** The key as it was asked for: any text, unless there is a row of it. */
  readonly key: string;
  readonly input: Input;
  readonly actor: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly onBehalfOf: string | null;
  readonly reason: string | null;
  readonly traceparent: string | null;
  /** Receipt whose call is fired again; null for a call of its own. */
  readonly replayOf: string | null;
  /** Receipt of the failed call that this one corrects; null for a call of its own. */
  readonly repairs: string | null;
  /** The ask that the call follows, as its caller names it; null where it names none. */
  readonly askId: string | null;
}

/** The row that an attempt met. */
export interface AttemptedRow {
  readonly type: RowType;
  readonly version: number;
  readonly fingerprint: string;
}

/** How an attempt ended. */
export interface Ending {
  readonly row: AttemptedRow | null;
  /** Null when nothing ran. */
  readonly lane: string | null;
  /** Milliseconds since 1970. */
  readonly finishedAt: number;
  readonly outcome: Outcome;
  /** Undefined when nothing ran. The text is the value's JSON, as it is answered. */
  readonly result?: { readonly value: JsonValue; readonly text: string };
  readonly upstream?: JsonObject | null;
  readonly error?: { readonly reason: string; readonly message: string } | null;
  /** US dollars that the call cost; 0 when not given. */
  readonly costUsd?: number;
}

/** Cuts secrets out of what is kept. */
export interface Redactor {
  text(text: string): string;
  json(value: JsonValue): JsonValue;
}

/** Hash of what really went in: the bytes of the body, or the canonical JSON (RFC 8785) of the arguments. */
export function hashInput(input: Input): string {
  return sha256('body' in input ? input.body : toCanonicalJson(input.args));
}

/** Characters of a caller's key that a receipt keeps: it may be anything that was sent. */
const KEY_LENGTH_MAX = 128;
const MESSAGE_LENGTH_MAX = 2_000;

/** Makes any text fit for a Postgres text column: well-formed Unicode, without U+0000, not longer than `lengthMax`. */
export function toColumnText(text: string, lengthMax: number): string {
  return text.slice(0, lengthMax).toWellFormed().replaceAll('\0', '\uFFFD');
}

/** Builds the receipt of an attempt. Hashes are of what was sent and received; what is kept of it is redacted. */
export function buildReceipt(attempt: Attempt, ending: Ending, redactor: Redactor): ReceiptRecord {
  const { result, row, error } = ending;
  const startedAt = new Date(attempt.startedAt).toISOString();
  const material = ending.outcome === 'succeeded' && result !== undefined && isMaterial(result.value);
  return {
    receipt: {
      id: attempt.id,
      trace: attempt.trace,
      parent: attempt.parent,
      step: attempt.step,
      key: row === null ? toColumnText(redactor.text(attempt.key), KEY_LENGTH_MAX) : attempt.key,
      type: row?.type ?? null,
      row_version: row?.version ?? null,
      lane: ending.lane,
      actor: attempt.actor,
      started_at: startedAt,
      finished_at: ending.finishedAt > attempt.startedAt ? new Date(ending.finishedAt).toISOString() : startedAt,
      outcome: ending.outcome,
      status: material ? 'PROVEN_MATERIAL_RESULT' : 'PROVEN_ATTEMPT_NO_MATERIAL_RESULT',
      material,
      input_hash: hashInput(attempt.input),
      output_hash: result === undefined ? null : sha256(result.text),
      contract_fingerprint: row?.fingerprint ?? null,
      error: error == null ? null : toColumnText(redactor.text(error.reason), KEY_LENGTH_MAX * 2),
      error_message: error == null ? null : toColumnText(redactor.text(error.message), MESSAGE_LENGTH_MAX),
      tokens_in: 0,
      tokens_out: 0,
      tokens_cached: 0,
      cost_usd: ending.costUsd ?? 0,
      replay_of: attempt.replayOf,
      repairs: attempt.repairs,
      on_behalf_of: redactNote(attempt.onBehalfOf, redactor),
      reason: redactNote(attempt.reason, redactor),
      traceparent: attempt.traceparent,
      ask_id: attempt.askId,
    },
    payload: buildPayload(attempt, ending, redactor),
  };
}

/** What a caller says beside the input may hold a secret as well: one, too, that the call itself was first to use. */
const redactNote = (note: string | null, redactor: Redactor): string | null =>
  note === null ? null : redactor.text(note);

function buildPayload(attempt: Attempt, ending: Ending, redactor: Redactor): ReceiptRecord['payload'] {
  const request = redactInput(attempt.input, redactor);
  const result = ending.result === undefined ? undefined : redactJson(ending.result, redactor);
  return {
    receipt_id: attempt.id,
    request: request.text,
    request_redacted: request.redacted,
    result: result?.text ?? null,
    result_redacted: result?.redacted ?? false,
    upstream: ending.upstream == null ? null : JSON.stringify(ending.upstream),
  };
}

interface Kept {
  readonly text: string;
  readonly redacted: boolean;
}

/** The redactor answers the very value it was given when it holds no secret: then the text is not written again. */
function redactJson(result: { value: JsonValue; text: string }, redactor: Redactor): Kept {
  const value = redactor.json(result.value);
  return value === result.value
    ? { text: result.text, redacted: false }
    : { text: JSON.stringify(value), redacted: true };
}

function redactInput(input: Input, redactor: Redactor): Kept {
  if ('args' in input) {
    const args = redactor.json(input.args);
    return { text: JSON.stringify({ args }), redacted: args !== input.args };
  }
  const body = redactor.text(input.body);
  return { text: JSON.stringify({ body }), redacted: body !== input.body };
}
