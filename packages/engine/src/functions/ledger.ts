import { z } from 'zod';
import type { Dispatched } from '../engine.js';
import type { Lineage } from '../lineage.js';
import { callOf, toNestedCaller } from './call.js';
import { defineFunction, type FunctionContext, type FunctionDefinition } from './registry.js';

const id = z.string().max(64);
const confirm = z.union([z.literal(['', 'confirm', 'true']), z.boolean()]).optional();
const isConfirmed = (given: z.output<typeof confirm>): boolean =>
  given !== undefined && given !== '' && given !== false;

/**
 * The verbs of receipts as functions. What they fire is a call of its own, in the same trace, which the caller's grant has
 * to allow as any other.
 */
export function buildLedgerFunctions(lineage: Lineage): readonly FunctionDefinition[] {
  return [
    defineFunction({
      name: 'OIP_RECEIPT',
      what: 'Everything about one call: what went in, what came out, what came of it.',
      effect: 'read',
      input: z.tuple([id]),
      run: ([receipt], context) => lineage.read(receipt, toNestedCaller(context)),
    }),
    defineFunction({
      name: 'OIP_TREE',
      what: 'All calls of the trace that a call belongs to, as a tree.',
      effect: 'read',
      input: z.tuple([id]),
      run: ([receipt], context) => lineage.readTree(receipt, toNestedCaller(context)),
    }),
    defineFunction({
      name: 'OIP_REPLAY',
      what: 'Fires a call again with the recorded input, and compares the outputs.',
      effect: 'write',
      input: z.tuple([id, confirm]),
      async run([receipt, confirmed], context) {
        const request = { ...toRequest(context), confirmed: isConfirmed(confirmed) };
        return toResult(await lineage.replay(receipt, request, toNestedCaller(context)));
      },
    }),
    defineFunction({
      name: 'OIP_REPAIR',
      what: 'Corrects a call whose key no row had: fires the nearest read, proposes any other.',
      effect: 'write',
      input: z.tuple([id, confirm]),
      async run([receipt, confirmed], context) {
        const request = { ...toRequest(context), confirmed: isConfirmed(confirmed) };
        const repair = await lineage.repairKey(receipt, request, toNestedCaller(context));
        return repair.kind === 'proposed' ? { fired: false, send: repair.send } : toResult(repair.dispatched);
      },
    }),
  ];
}

const toRequest = (context: FunctionContext) => ({
  mode: 'sync' as const,
  reason: callOf(context).reason ?? undefined,
});

/** What a call says of one that it made. */
function toResult(dispatched: Dispatched): unknown {
  if (dispatched.kind !== 'finished') return { fired: false, state: dispatched.kind };
  const { receipt, resultText, error, replay } = dispatched.call;
  return {
    fired: true,
    ok: receipt.outcome === 'succeeded',
    key: receipt.key,
    result: JSON.parse(resultText) as unknown,
    ...(error === null ? {} : { error: { code: error.reason, message: error.message } }),
    ...(replay === undefined ? {} : { replay }),
    invocation_id: receipt.id,
    status: receipt.status,
  };
}
