import type { Caller } from '@rowcall/engine';
import { AppError } from '@rowcall/errors';
import { GRANT_FINGERPRINT_PATTERN } from '@rowcall/protocol';
import type { DoorContext } from '../context.js';

/**
 * What a grant may do now: `explain=1` of the grant whose token the request presents, `explain=cap_…` of that one, for the
 * owner, its holder, and the holders of the grants that it derives from.
 */
export function explainGrant(context: DoorContext, caller: Caller, named: string) {
  return context.grants.explain(named === '1' ? ownOf(caller) : checked(named), caller);
}

function ownOf({ chain }: Caller): string {
  const own = chain.at(-1);
  if (own !== undefined) return own.fingerprint;
  throw new AppError('unrecognized_request', 'explain=1 explains the grant of a token: add share=<token>');
}

function checked(fingerprint: string): string {
  if (GRANT_FINGERPRINT_PATTERN.test(fingerprint)) return fingerprint;
  throw new AppError('unrecognized_request', 'explain takes 1 or the fingerprint of a grant: cap_…');
}
