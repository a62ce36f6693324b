import { type Caller, toReceiptLinks } from '@rowcall/engine';
import { parseJson } from '@rowcall/protocol';
import { findReceiptPayload } from '@rowcall/store';
import type { DoorContext } from '../context.js';
import { confirm } from './confirm.js';

/**
 * Everything about one call, for who may know it: the receipt, what went in and came out, and its trace as a tree.
 * @throws AppError unknown_receipt.
 */
export async function readReceipt(context: DoorContext, id: string, reader: Caller) {
  const { db } = context.store;
  const confirmation = await confirm(context, id);
  const links = toReceiptLinks(context.baseUrl(), id);
  if (!confirmation.confirmed) return { invocation_id: id, state: confirmation.state, links };
  const receipt = await context.lineage.getReceipt(id, reader);
  const [payload, trace] = await Promise.all([findReceiptPayload(db, id), context.lineage.readTree(id, reader)]);
  return {
    state: 'finished',
    receipt,
    lineage: confirmation.lineage,
    payload:
      payload === undefined
        ? null
        : {
            request: parseJson(payload.request),
            request_redacted: payload.request_redacted,
            result: payload.result === null ? null : parseJson(payload.result),
            result_redacted: payload.result_redacted,
            upstream: payload.upstream === null ? null : parseJson(payload.upstream),
          },
    trace,
    links,
  };
}
