import type { ReceiptRecord, RowWrite } from '@rowcall/protocol';

/** A well-kept row of type fn; give what matters to the test. */
export function makeRow(row: Partial<RowWrite> & { key: string }): RowWrite {
  return {
    type: 'fn',
    target: 'ECHO',
    auth: null,
    content: '# WHAT: Gives back what it is given.',
    category: 'test',
    allowed_categories: [],
    seq: 0,
    enabled: true,
    planner_visible: true,
    planner_rank: 100,
    input_schema: null,
    examples: ['hello'],
    sensitive: false,
    runner: null,
    includes: [],
    effect: null,
    pinned_for: [],
    demoted: false,
    headers: null,
    limits: null,
    source: 'manual',
    ...row,
  };
}

let sequence = 0;

/** A receipt of a run that succeeded; give what matters to the test. */
export function makeReceipt(
  receipt: Partial<ReceiptRecord['receipt']> = {},
  payload: Partial<ReceiptRecord['payload']> = {},
): ReceiptRecord {
  sequence += 1;
  const hex = sequence.toString(16).padStart(32, '0');
  const id = receipt.id ?? `inv_${hex}`;
  return {
    receipt: {
      id,
      trace: `t_${hex}`,
      parent: null,
      step: null,
      key: 'ECHO',
      type: 'fn',
      row_version: 1,
      lane: 'inline',
      actor: 'owner',
      started_at: '2026-01-02T03:04:05.000Z',
      finished_at: '2026-01-02T03:04:05.006Z',
      outcome: 'succeeded',
      status: 'PROVEN_MATERIAL_RESULT',
      material: true,
      input_hash: '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
      output_hash: '5aa762ae383fbb727af3c7a36d4940a5b8c40a989452d2304fc958ff3f354e7a',
      contract_fingerprint: 'f'.repeat(64),
      error: null,
      error_message: null,
      tokens_in: 0,
      tokens_out: 0,
      tokens_cached: 0,
      cost_usd: 0,
      replay_of: null,
      repairs: null,
      on_behalf_of: null,
      reason: null,
      traceparent: null,
      ask_id: null,
      ...receipt,
    },
    payload: {
      receipt_id: id,
      request: '{"body":"hello"}',
      request_redacted: false,
      result: '"hello"',
      result_redacted: false,
      upstream: null,
      ...payload,
    },
  };
}
