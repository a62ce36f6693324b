import type { Receipt } from '@rowcall/protocol';
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
 * and its bytes are those that the receipt's output hash was taken of.
 */
export function toAnswerText(call: FinishedCall, baseUrl: string): string {
  const { receipt, error } = call;
  const ok = receipt.outcome === 'succeeded';
  const head = JSON.stringify({ ok, ran: true, trace: receipt.trace }).slice(0, -1);
  const upstream = call.upstreamText === null ? '' : `,"upstream":${call.upstreamText}`;
  const failure = error === null ? '' : `,"error":${JSON.stringify({ code: error.reason, message: error.message })}`;
  const { contractChange } = call;
  const tail = JSON.stringify({
    ...(contractChange === undefined ? {} : { contract_changed_since_last_call: contractChange }),
    proof: toProof(receipt, baseUrl),
    cost: toCost(receipt),
    links: { contract: `${baseUrl}/api/dispatch?key=${encodeURIComponent(receipt.key)}` },
  }).slice(1);
  return `${head},"result":${call.resultText}${upstream}${failure},${tail}`;
}

function toProof(receipt: Receipt, baseUrl: string) {
  return {
    ok: receipt.material,
    did: `${receipt.outcome}: ${receipt.key} (${receipt.type}, version ${receipt.row_version}) on ${receipt.lane}`,
    invocation_id: receipt.id,
    status: receipt.status,
    fingerprints: {
      algorithm: 'SHA-256',
      input: receipt.input_hash,
      output: receipt.output_hash,
      contract: receipt.contract_fingerprint,
    },
    ...toReceiptLinks(baseUrl, receipt.id),
  };
}

function toCost(receipt: Receipt) {
  return {
    ms: Date.parse(receipt.finished_at) - Date.parse(receipt.started_at),
    tokens_in: receipt.tokens_in,
    tokens_out: receipt.tokens_out,
    tokens_cached: receipt.tokens_cached,
    usd: receipt.cost_usd,
  };
}
