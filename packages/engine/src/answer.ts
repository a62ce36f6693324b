import type { Receipt } from '@rowcall/protocol';
import type { ReplayVerdict } from '@rowcall/receipts';
import type { ContractChange } from './last-contracts.js';

/** A finished call: its receipt is committed, and the result is the JSON text that its hash was taken of. */
export interface FinishedCall {
  readonly receipt: Receipt;
  readonly resultText: string;
  /** JSON text of `{status, content_type, …}`; null for rows that call no upstream. */
  readonly upstreamText: string | null;
  readonly error: { readonly reason: string; readonly message: string } | null;
  /** Given when the row changed since the caller's last call of it. */
  readonly contractChange?: ContractChange;
  /** Given when the call fired another one again. */
  readonly replay?: ReplayVerdict;
}

/** Addresses of a receipt, for the owner and for anyone. */
export function toReceiptLinks(baseUrl: string, id: string) {
  return {
    confirm: `${baseUrl}/api/dispatch?confirm=${id}`,
    receipt: `${baseUrl}/api/dispatch?receipt=${id}`,
    public_receipt: `${baseUrl}/receipt/${id}`,
  };
}

/**
 * The answer to a call, as JSON text. The result is put in as the text it already is: it is not written a second time,
 * and its bytes are those that the receipt's output hash was taken of. The members around it are written here, since
 * ids, hashes, numbers and the keys of rows need no escaping, and this is done for every call.
 */
export function toAnswerText(call: FinishedCall, baseUrl: string): string {
  const { receipt, error, contractChange, replay } = call;
  const ok = receipt.outcome === 'succeeded';
  const upstream = call.upstreamText === null ? '' : `,"upstream":${call.upstreamText}`;
  const failure = error === null ? '' : `,"error":${JSON.stringify({ code: error.reason, message: error.message })}`;
  const change =
    contractChange === undefined ? '' : `,"contract_changed_since_last_call":${JSON.stringify(contractChange)}`;
  const verdict = replay === undefined ? '' : `,"replay":${JSON.stringify(replay)}`;
  const base = escapedBase(baseUrl);
  return (
    `{"ok":${ok},"ran":true,"trace":"${receipt.trace}","result":${call.resultText}${upstream}${failure}${change}${verdict}` +
    `,"proof":${toProofText(receipt, base)},"cost":${toCostText(receipt)}` +
    `,"links":{"contract":"${base}/api/dispatch?key=${receipt.key}"}}`
  );
}

let escaped = { baseUrl: '', text: '' };

/** A public address is set by the owner and may hold any character that a URL may. A process has one. */
function escapedBase(baseUrl: string): string {
  if (escaped.baseUrl !== baseUrl) escaped = { baseUrl, text: JSON.stringify(baseUrl).slice(1, -1) };
  return escaped.text;
}

const toText = (hash: string | null): string => (hash === null ? 'null' : `"${hash}"`);

function toProofText(receipt: Receipt, base: string): string {
  const { id, key, type, row_version: version } = receipt;
  const did = JSON.stringify(`${receipt.outcome}: ${key} (${type}, version ${version}) on ${receipt.lane}`);
  return (
    `{"ok":${receipt.material},"did":${did},"invocation_id":"${id}","status":"${receipt.status}"` +
    `,"fingerprints":{"algorithm":"SHA-256","input":"${receipt.input_hash}","output":${toText(receipt.output_hash)}` +
    `,"contract":${toText(receipt.contract_fingerprint)}}` +
    `,"confirm":"${base}/api/dispatch?confirm=${id}","receipt":"${base}/api/dispatch?receipt=${id}"` +
    `,"public_receipt":"${base}/receipt/${id}"}`
  );
}

/** Most functions end in the millisecond that they start in: then there is nothing to parse. */
const toMs = ({ started_at: start, finished_at: end }: Receipt): number =>
  start === end ? 0 : Date.parse(end) - Date.parse(start);

function toCostText(receipt: Receipt): string {
  return (
    `{"ms":${toMs(receipt)},"tokens_in":${receipt.tokens_in},"tokens_out":${receipt.tokens_out}` +
    `,"tokens_cached":${receipt.tokens_cached},"usd":${receipt.cost_usd}}`
  );
}
