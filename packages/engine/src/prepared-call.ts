import type { Entry } from '@rowcall/catalogue';
import type { Allowed, Chain } from '@rowcall/grants';
import type { Beginning } from '@rowcall/store';
import type { Call, DispatchRequest } from './call.js';
import type { CallRecords } from './call-records.js';
import type { PreparedRun } from './run.js';

/** A call that the gate allowed and whose arguments were checked: nothing of it has fired. */
export interface PreparedCall {
  readonly kind: 'run';
  readonly call: Call;
  readonly request: DispatchRequest;
  readonly entry: Entry;
  readonly run: PreparedRun;
  readonly lane: string;
  readonly allowed: Allowed;
}

/** A call that would be prepared if a person agreed to it. */
export interface ParkedCall extends Omit<PreparedCall, 'kind'> {
  readonly kind: 'park';
}

/** Whether something of the grants is counted, so that a call has to be begun where the counters are. */
export const isLimited = (chain: Chain): boolean =>
  chain.some(({ terms }) => terms.max_uses > 0 || terms.rate_per_minute !== null || terms.budget_usd !== null);

/** What a call takes from its grants. */
export const toTaking = ({ call, entry, allowed }: PreparedCall | ParkedCall): Beginning => ({
  id: call.id,
  chain: allowed.grants,
  price: entry.price,
  claim: null,
  opened: null,
});

/** What opens calls: the process that holds them, and what makes the receipt of one that is left behind. */
export interface Opener {
  readonly processId: string;
  readonly records: CallRecords;
}

/** The same beginning, with the receipt that stands in for the call's own should the process die. */
export const withOpened = (
  beginning: Beginning,
  { call, entry, lane }: PreparedCall | ParkedCall,
  { processId, records }: Opener,
): Beginning => ({ ...beginning, opened: { process: processId, record: records.interrupted(call, lane, entry) } });

/** What a call begins with that takes nothing from grants. */
export const toBareBeginning = ({ call, request }: PreparedCall | ParkedCall): Beginning => ({
  id: call.id,
  chain: [],
  price: 0,
  claim: request.claim ?? null,
  opened: null,
});

/** What has to be committed before a call fires; undefined for most reads. */
export function toBeginning(prepared: PreparedCall, opener: Opener): Beginning | undefined {
  const { call, request, entry, lane } = prepared;
  const takes = isLimited(call.caller.chain);
  // A job holds its call as an opened record does.
  const changesHere = lane === 'inline' && request.mode === 'sync' && entry.effect !== 'read';
  const opens = request.claim !== undefined || changesHere;
  if (!takes && !opens) return undefined;
  const bare = toBareBeginning(prepared);
  const beginning = takes ? { ...toTaking(prepared), claim: bare.claim } : bare;
  return opens ? withOpened(beginning, prepared, opener) : beginning;
}
