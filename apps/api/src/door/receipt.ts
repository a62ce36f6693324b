import { type Caller, toReceiptLinks } from '@rowcall/engine';
import { isJsonObject, type JsonObject, type Receipt } from '@rowcall/protocol';
import { toTraceTree } from '@rowcall/receipts';
import { type LaterCall, listLaterCalls, listTrace } from '@rowcall/store';
import type { DoorContext } from '../context.js';
import { confirm } from './confirm.js';
import { toReceiptVerbs } from './receipt-verbs.js';

/** Receipts of a trace that one answer shows. */
const TRACE_MAX = 1_000;
/** Replays and repairs that one answer shows, each: the newest. */
const LATER_MAX = 50;

/**
 * Everything about one call, for who may know it: the receipt, what went in and came out, its trace as a tree, what was made of it
 * later, and what can be done with it. @throws AppError unknown_receipt.
 */
export async function readReceipt(context: DoorContext, id: string, reader: Caller) {
  const confirmation = await confirm(context, id);
  if (!confirmation.confirmed) {
    return { invocation_id: id, state: confirmation.state, links: toReceiptLinks(context.baseUrl(), id) };
  }
  const { receipt, payload, trace, replays, repairs } = await readAll(context, id, reader);
  return {
    state: 'finished',
    receipt,
    payload,
    // It is written together with its receipt: what is not there was deleted.
    payload_expired: payload === null,
    trace: toTraceTree(trace.slice(0, TRACE_MAX)),
    trace_complete: trace.length <= TRACE_MAX,
    replayed_by: replays.map((call) => toLater(call, context.baseUrl())),
    repaired_by: repairs.map((call) => toLater(call, context.baseUrl())),
    verbs: toReceiptVerbs({
      receipt,
      request: toObject(payload?.request),
      redacted: payload?.request_redacted ?? false,
      row: toRowFacts(context, receipt.key),
    }),
    links: toLinks(receipt, context.baseUrl()),
  };
}

async function readAll(context: DoorContext, id: string, reader: Caller) {
  const { db } = context.store;
  const { receipt, payload } = await context.lineage.read(id, reader);
  const [trace, replays, repairs] = await Promise.all([
    listTrace(db, receipt.trace, TRACE_MAX + 1),
    listLaterCalls(db, { relation: 'replay_of', id, limit: LATER_MAX }),
    listLaterCalls(db, { relation: 'repairs', id, limit: LATER_MAX }),
  ]);
  return { receipt, payload, trace, replays, repairs };
}

const toObject = (value: unknown): JsonObject | undefined => (isJsonObject(value) ? value : undefined);

function toRowFacts({ catalogue }: DoorContext, key: string) {
  const entry = catalogue.find(key);
  return entry === undefined ? undefined : { enabled: entry.row.enabled, effect: entry.effect };
}

const toReceiptUrl = (baseUrl: string, id: string): string => toReceiptLinks(baseUrl, id).receipt;

const toLater = ({ id, ...call }: LaterCall, baseUrl: string) => ({
  invocation_id: id,
  ...call,
  receipt: toReceiptUrl(baseUrl, id),
});

/** Addresses of the receipt and of what it belongs to. */
function toLinks({ id, trace, parent, replay_of, repairs }: Receipt, baseUrl: string) {
  const related = Object.entries({ parent, replay_of, repairs });
  return {
    ...toReceiptLinks(baseUrl, id),
    trace: `${baseUrl}/api/invocations?trace=${trace}`,
    ...Object.fromEntries(related.flatMap(([name, to]) => (to === null ? [] : [[name, toReceiptUrl(baseUrl, to)]]))),
  };
}
