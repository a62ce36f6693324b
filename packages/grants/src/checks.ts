import { AppError, type ErrorCode } from '@rowcall/errors';
import type { Input } from '@rowcall/receipts';
import { allowsEffect, allowsRisk, fixedBodyOf, lowestLimit } from './chain-limits.js';
import { covers, mayCall } from './covers.js';
import type { Chain, RowFacts } from './grant.js';

/** What a caller asks for. */
export interface CallRequest {
  /** A caller that sent neither body nor arguments sent the empty body. */
  readonly input: Input;
  /** Whom the call comes from, as the entrance found it; undefined when it does not know. */
  readonly audience: string | undefined;
  /** Contract fingerprint that the caller expects; undefined for any. */
  readonly expectContract: string | undefined;
  /** True when a person has agreed to exactly this call. */
  readonly approved: boolean;
}

/** Why a call may not be made. */
export interface Denied {
  readonly allowed: false;
  readonly code: ErrorCode;
  /** What follows the code in the literal reason. */
  readonly param?: string;
  /** For the caller. */
  readonly message: string;
  /** For the caller: what to do, where that is more exact than the catalogue's text. */
  readonly fix?: string;
}

/** A call to be decided. */
export interface Call {
  readonly chain: Chain;
  readonly row: RowFacts;
  readonly request: CallRequest;
  /** What would go in: {@link toEffectiveInput}. */
  readonly input: Input;
}

type Check = (call: Call) => Denied | undefined;

/** After {@link checkLive}, in this order, each over the whole chain. For the owner's empty chain only the row's state and what the caller expects are left. */
const CHECKS: readonly Check[] = [
  checkScope,
  checkEnabled,
  checkAudience,
  checkOwnerGate,
  checkContract,
  checkEffect,
  checkRisk,
  checkFixedBody,
  checkPayload,
];

/**
 * Finds the first reason why a call may not be made. A call is allowed when every grant of its chain allows it, so that a
 * grant can never do what one that it derives from may not, whatever was written into it.
 *
 * @param now milliseconds since 1970
 */
export function findDenial(call: Call, now: number): Denied | undefined {
  const dead = checkLive(call.chain, now);
  if (dead !== undefined) return dead;
  for (const check of CHECKS) {
    const denied = check(call);
    if (denied !== undefined) return denied;
  }
  return undefined;
}

/**
 * Finds out whether a chain has ended: `expired`, else `revoked`. To be asked as well where a token shows rather than calls.
 *
 * @param now milliseconds since 1970
 */
export function checkLive(chain: Chain, now: number): Denied | undefined {
  // Negated, so that a time that is no number has passed.
  const expired = chain.find(({ expires_at }) => !(now < expires_at));
  if (expired !== undefined) return deny('expired', `the grant ${expired.fingerprint} has expired`);
  const revoked = chain.find(({ revoked_at }) => revoked_at !== null);
  if (revoked !== undefined) return deny('revoked', `the grant ${revoked.fingerprint} was revoked`);
  return undefined;
}

/** What goes in: the body that a grant of the chain fixes where the caller sent none, else what the caller sent. */
export function toEffectiveInput(chain: Chain, input: Input): Input {
  const fixed = fixedBodyOf(chain);
  return fixed !== undefined && 'body' in input && input.body === '' ? { body: fixed } : input;
}

/** The failure that a denial is to the caller. */
export function toAppError({ code, message, param, fix }: Denied): AppError {
  return new AppError(code, message, {
    ...(param === undefined ? {} : { param }),
    ...(fix === undefined ? {} : { fix }),
  });
}

function checkScope({ chain, row }: Call): Denied | undefined {
  if (!mayCall(chain)) return deny('scope_mismatch', 'the grant is for reading: it calls no row');
  return covers(chain, row) ? undefined : denyScope(row.key);
}

/** The denial of a row that the grant does not cover. It is the same, word for word, where no row has the key. */
export const denyScope = (key: string): Denied => deny('scope_mismatch', `the grant is not for the row ${key}`);

function checkEnabled({ row }: Call): Denied | undefined {
  return row.enabled ? undefined : deny('capability_disabled', `the row ${row.key} is disabled`);
}

function checkAudience({ chain, request }: Call): Denied | undefined {
  for (const { terms } of chain) {
    if (terms.audience === null || terms.audience === request.audience) continue;
    return deny('audience_bound', 'the grant is bound to another audience', terms.audience);
  }
  return undefined;
}

function checkOwnerGate({ chain, row, request }: Call): Denied | undefined {
  if (request.approved || chain.every(({ terms }) => !terms.owner_gate)) return undefined;
  return deny('owner_gate_required', `a person must agree to the call of ${row.key}`);
}

function checkContract({ chain, row, request }: Call): Denied | undefined {
  for (const { terms } of chain) {
    const pinned = terms.pins !== null && Object.hasOwn(terms.pins, row.key) ? terms.pins[row.key] : undefined;
    if (pinned !== undefined && pinned !== row.fingerprint) {
      const denied = denyContract(pinned, row, `the row ${row.key} changed since the grant was made`);
      return { ...denied, fix: 'ask whoever gave the token for a new one: it held the row as it was' };
    }
  }
  const expected = request.expectContract;
  if (expected === undefined || expected === row.fingerprint) return undefined;
  return denyContract(expected, row, `the contract of ${row.key} is no longer the one that was expected`);
}

const denyContract = (pinned: string, row: RowFacts, message: string) =>
  deny('contract_changed', message, `${pinned}!=${row.fingerprint}`);

function checkEffect({ chain, row: { key, effect } }: Call): Denied | undefined {
  if (allowsEffect(chain, effect)) return undefined;
  return deny('effect_not_granted', `the effect of ${key} is ${effect}, which the grant does not allow`);
}

function checkRisk({ chain, row: { key, risk } }: Call): Denied | undefined {
  if (allowsRisk(chain, risk)) return undefined;
  return deny('risk_ceiling', `the risk of ${key} is ${risk}; the grant allows low`, `low<row:${risk}`);
}

function checkFixedBody({ chain, row, input }: Call): Denied | undefined {
  const body = 'body' in input ? input.body : null;
  if (chain.every(({ terms }) => terms.fixed_body === null || terms.fixed_body === body)) return undefined;
  return deny('body_not_allowed', `the grant fixes the body of ${row.key}: send none`, 'fixed_body_only');
}

function checkPayload({ chain, input }: Call): Denied | undefined {
  const most = lowestLimit(chain, 'max_body_bytes');
  if (most === undefined) return undefined;
  const bytes = Buffer.byteLength('body' in input ? input.body : JSON.stringify(input.args));
  if (bytes <= most) return undefined;
  return deny('payload_ceiling', `the call has ${bytes} bytes; the grant allows ${most}`, `${bytes}>${most}`);
}

const deny = (code: ErrorCode, message: string, param?: string): Denied => ({
  allowed: false,
  code,
  message,
  ...(param === undefined ? {} : { param }),
});
