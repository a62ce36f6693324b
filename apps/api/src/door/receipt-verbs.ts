import type { Effect, JsonObject, Receipt } from '@rowcall/protocol';

/** What POST /api/dispatch takes to do it, or why it cannot be done. */
export type Verb = { readonly send: JsonObject } | { readonly unavailable: string };

/** What can be done with a receipt. */
export interface ReceiptVerbs {
  /** Fires the recorded input again. */
  readonly replay: Verb;
  /** Fires a corrected call in place of one that went wrong: correct `send` first. */
  readonly repair: Verb;
}

/** What the verbs of a receipt follow from. */
export interface VerbFacts {
  readonly receipt: Pick<Receipt, 'id' | 'key' | 'material'>;
  /** The recorded `{body}` or `{args}`; undefined when it has expired. */
  readonly request: JsonObject | undefined;
  /** Whether a secret was cut from it. */
  readonly redacted: boolean;
  /** The row of the key as it is now; undefined when there is none. */
  readonly row: { readonly enabled: boolean; readonly effect: Effect } | undefined;
}

/** The verbs that act on a receipt. Both pass all gates anew; whoever writes or destroys with them has to confirm it. */
export function toReceiptVerbs(facts: VerbFacts): ReceiptVerbs {
  return { replay: toReplay(facts), repair: toRepair(facts) };
}

function toReplay({ receipt, request, redacted, row }: VerbFacts): Verb {
  if (row === undefined) return { unavailable: 'unknown_key' };
  if (!row.enabled) return { unavailable: 'capability_disabled' };
  if (request === undefined) return { unavailable: 'payload_expired' };
  if (redacted) return { unavailable: 'replay_redacted' };
  return { send: { replay: receipt.id, ...toConsent(row) } };
}

/** Any key may repair a call. The recorded input is a start, unless it is not what was sent. */
function toRepair({ receipt, request, redacted, row }: VerbFacts): Verb {
  if (receipt.material) return { unavailable: 'not_failed' };
  const input = request === undefined || redacted ? {} : request;
  return { send: { key: receipt.key, ...input, repairs: receipt.id, ...toConsent(row) } };
}

const toConsent = (row: VerbFacts['row']): JsonObject =>
  row === undefined || row.effect === 'read' ? {} : { confirm: true };
