import { type Caller, toReceiptLinks } from '@rowcall/engine';
import { parseJson, type Receipt } from '@rowcall/protocol';
import { findReceiptPayload, listTrace } from '@rowcall/store';
import type { DoorContext } from '../context.js';
import { confirm } from './confirm.js';

/** Receipts of a trace that one answer shows. */
const TRACE_MAX = 1_000;

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
  const [payload, trace] = await Promise.all([findReceiptPayload(db, id), listTrace(db, receipt.trace, TRACE_MAX)]);
  return {
    state: 'finished',
    receipt,
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
    trace: toNodes(groupByParent(trace), null),
    links,
  };
}

interface TraceNode {
  readonly invocation_id: string;
  readonly key: string;
  readonly step: number | null;
  readonly outcome: Receipt['outcome'];
  readonly started_at: string;
  readonly finished_at: string;
  readonly children: readonly TraceNode[];
}

function groupByParent(receipts: readonly Receipt[]): Map<string | null, Receipt[]> {
  const groups = new Map<string | null, Receipt[]>();
  for (const receipt of receipts) groups.set(receipt.parent, [...(groups.get(receipt.parent) ?? []), receipt]);
  return groups;
}

function toNodes(children: ReadonlyMap<string | null, readonly Receipt[]>, parent: string | null): TraceNode[] {
  return (children.get(parent) ?? []).map((receipt) => ({
    invocation_id: receipt.id,
    key: receipt.key,
    step: receipt.step,
    outcome: receipt.outcome,
    started_at: receipt.started_at,
    finished_at: receipt.finished_at,
    children: toNodes(children, receipt.id),
  }));
}
