import { toReceiptLinks, unknownReceipt } from '@rowcall/engine';
import { type Confirmation, INVOCATION_ID_PATTERN, type Receipt } from '@rowcall/protocol';
import { findCallState, findReceipt } from '@rowcall/store';
import type { Context } from '../context.js';

/** Public proof that a call ran, or where it stands. Works for rows that are long deleted. @throws AppError unknown_receipt. */
export async function confirm(context: Pick<Context, 'store' | 'baseUrl'>, id: string): Promise<Confirmation> {
  if (!INVOCATION_ID_PATTERN.test(id)) throw unknownReceipt(id);
  const { public_receipt } = toReceiptLinks(context.baseUrl(), id);
  const receipt = await findReceipt(context.store.db, id);
  if (receipt !== undefined) return { ...toConfirmation(receipt), public_receipt };
  const state = await findCallState(context.store.db, id);
  if (state !== undefined) return { confirmed: false, state, invocation_id: id, public_receipt };
  // A job that ended between the two looks has its receipt now.
  const late = await findReceipt(context.store.db, id);
  if (late === undefined) throw unknownReceipt(id);
  return { ...toConfirmation(late), public_receipt };
}

function toConfirmation(receipt: Receipt): Omit<Confirmation, 'public_receipt'> {
  return {
    confirmed: true,
    state: 'finished',
    invocation_id: receipt.id,
    key: receipt.key,
    type: receipt.type,
    row_version: receipt.row_version,
    lane: receipt.lane,
    actor: receipt.actor,
    outcome: receipt.outcome,
    status: receipt.status,
    material: receipt.material,
    error: receipt.error,
    started_at: receipt.started_at,
    finished_at: receipt.finished_at,
    fingerprints: {
      algorithm: 'SHA-256',
      input: receipt.input_hash,
      output: receipt.output_hash,
      contract: receipt.contract_fingerprint,
    },
    lineage: {
      trace: receipt.trace,
      parent: receipt.parent,
      step: receipt.step,
      replay_of: receipt.replay_of,
      repairs: receipt.repairs,
    },
  };
}
