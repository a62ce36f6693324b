import type { Catalogue, Entry } from '@rowcall/catalogue';
import { AppError } from '@rowcall/errors';
import { type Allowed, checkLive, covers, decide, denyScope, toAppError } from '@rowcall/grants';
import type { Caller, DispatchRequest } from './call.js';

const SUGGESTIONS_MAX = 6;

/** What the gate said of a call: it may run, or it waits for a person and nothing else is in its way. */
export type Admission =
  | { readonly kind: 'run'; readonly entry: Entry; readonly allowed: Allowed }
  /** `allowed` says what may be done once the person has agreed; the call is not begun with it. */
  | { readonly kind: 'park'; readonly entry: Entry; readonly allowed: Allowed };

/** A call as the gate looks at it. */
export interface Asked extends Pick<DispatchRequest, 'key' | 'input' | 'expectContract'> {
  readonly caller: Pick<Caller, 'chain' | 'audience' | 'parent'>;
  /** True when a person has agreed to exactly this call. */
  readonly approved: boolean;
}

/**
 * Leads a call through the gate.
 * @param now milliseconds since 1970.
 * @throws AppError why it may not run.
 */
export function admit(asked: Asked, catalogue: Catalogue, now: number): Admission {
  const { key, input, expectContract, caller, approved } = asked;
  const { chain, audience } = caller;
  const entry = catalogue.find(key);
  if (entry === undefined) throw toUnknown(asked, catalogue, now);
  const request = { input, audience, expectContract, approved };
  const decision = decide(chain, entry, request, now);
  if (decision.allowed) return { kind: 'run', entry, allowed: decision };
  // In the midst of another call nothing can wait; and nobody is asked for what cannot be done.
  if (decision.code !== 'owner_gate_required' || caller.parent !== undefined) throw toAppError(decision);
  const agreed = decide(chain, entry, { ...request, approved: true }, now);
  if (!agreed.allowed) throw toAppError(agreed);
  return { kind: 'park', entry, allowed: agreed };
}

function toUnknown({ key, caller: { chain } }: Asked, catalogue: Catalogue, now: number): AppError {
  const ended = checkLive(chain, now);
  if (ended !== undefined) return toAppError(ended);
  // As for a row that is there: which keys there are outside its scope is not for the holder to learn.
  if (!covers(chain, { key, category: '' })) {
    return toAppError(denyScope(key.slice(0, 128)));
  }
  return new AppError('unknown_key', `no row has the key ${JSON.stringify(key.slice(0, 128))}`, {
    details: { did_you_mean: catalogue.nearest(key, SUGGESTIONS_MAX, (near) => covers(chain, near)) },
  });
}
