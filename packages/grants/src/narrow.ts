import { AppError } from '@rowcall/errors';
import { type AttenuateBody, EFFECTS, type GrantTerms } from '@rowcall/protocol';
import { checkLive, toAppError } from './checks.js';
import { isInScope, isWithin } from './covers.js';
import type { Chain, Grant, Rows } from './grant.js';
import { type MintContext, requireKnown, toExpiry, toPins, toScope } from './terms.js';

/** Derivations between a grant of the owner's and the deepest that comes from it. */
export const GRANT_DEPTH_MAX = 5;

/**
 * Derives a child of a grant: what the request leaves out is as in the parent. The child ends with its parent at the latest,
 * however long it was asked to last.
 *
 * @param chain the grants of the holder, of which the last is the parent; not the owner's empty chain
 * @throws AppError expired or revoked when the chain has ended; grant_too_deep; grant_wider naming every member that would
 *   allow more than the parent; unknown_key and invalid_args as in a mint
 */
export function narrow(chain: Chain, body: AttenuateBody, { fingerprint, now, rows }: MintContext): Grant {
  const parent = chain.at(-1);
  if (parent === undefined) throw new Error('the owner has no grant to derive from');
  requireDerivable(chain, parent, now);
  const scope = body.scope === undefined ? parent.terms.scope : toScope(body.scope);
  // Before looking keys up: whether there are rows that the parent does not cover is not for its holder to learn.
  const terms = { ...parent.terms, ...toAsked(body), scope };
  requireNarrower(parent.terms, terms, { body, rows });
  if (body.scope !== undefined) requireKnown(scope, rows);
  return {
    fingerprint,
    parent: parent.fingerprint,
    depth: parent.depth + 1,
    purpose: body.purpose ?? parent.purpose,
    actor: body.actor ?? parent.actor,
    created_at: now,
    expires_at: Math.min(parent.expires_at, toExpiry(now, body.ttl_seconds ?? Number.POSITIVE_INFINITY)),
    revoked_at: null,
    terms: { ...terms, pins: toChildPins(parent.terms, scope, { body, rows }) },
  };
}

function requireDerivable(chain: Chain, parent: Grant, now: number): void {
  const ended = checkLive(chain, now);
  if (ended !== undefined) throw toAppError(ended);
  if (parent.depth < GRANT_DEPTH_MAX) return;
  throw new AppError('grant_too_deep', `the grant ${parent.fingerprint} was derived ${parent.depth} times already`);
}

/** The terms that a request states. */
function toAsked({ effects, ...body }: AttenuateBody): Partial<GrantTerms> {
  const { max_uses, audience, risk_ceiling, owner_gate, fixed_body, max_body_bytes, rate_per_minute, budget_usd } =
    body;
  const asked = {
    effects: effects && EFFECTS.filter((effect) => effects.includes(effect)),
    max_uses,
    audience,
    risk_ceiling,
    owner_gate,
    fixed_body,
    max_body_bytes,
    rate_per_minute,
    budget_usd,
  };
  return Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined));
}

interface Derivation {
  readonly body: AttenuateBody;
  readonly rows: Pick<Rows, 'find'>;
}

type Wider = (parent: GrantTerms, child: GrantTerms, derivation: Derivation) => boolean;

/** No limit is more than any limit. */
const exceeds = (parent: number | null, child: number | null): boolean =>
  parent !== null && (child === null || child > parent);
const orNull = (usesMax: number): number | null => (usesMax === 0 ? null : usesMax);
const differs = (parent: string | null, child: string | null): boolean => parent !== null && child !== parent;

/** When a member of the request would allow more than the parent does. */
const WIDER: Readonly<Record<Exclude<keyof GrantTerms, 'pins'> | 'pin', Wider>> = {
  scope: (parent, child, { rows }) => !isWithin(child.scope, parent.scope, rows),
  effects: (parent, child) => child.effects.some((effect) => !parent.effects.includes(effect)),
  max_uses: (parent, child) => exceeds(orNull(parent.max_uses), orNull(child.max_uses)),
  audience: (parent, child) => differs(parent.audience, child.audience),
  risk_ceiling: (parent, child) => parent.risk_ceiling === 'low' && child.risk_ceiling === 'high',
  owner_gate: (parent, child) => parent.owner_gate && !child.owner_gate,
  fixed_body: (parent, child) => differs(parent.fixed_body, child.fixed_body),
  max_body_bytes: (parent, child) => exceeds(parent.max_body_bytes, child.max_body_bytes),
  rate_per_minute: (parent, child) => exceeds(parent.rate_per_minute, child.rate_per_minute),
  budget_usd: (parent, child) => exceeds(parent.budget_usd, child.budget_usd),
  pin: (parent, _child, { body }) => parent.pins !== null && body.pin === false,
};

function requireNarrower(parent: GrantTerms, child: GrantTerms, derivation: Derivation): void {
  const wider = Object.entries(WIDER).flatMap(([member, isWider]) =>
    isWider(parent, child, derivation) ? [member] : [],
  );
  if (wider.length === 0) return;
  throw new AppError('grant_wider', `the derived grant would allow more than its parent in ${wider.join(', ')}`, {
    details: { wider },
  });
}

/** The parent's pins of rows that the child is for, and where the child names rows or asks for it, those of its own. */
function toChildPins(parent: GrantTerms, scope: GrantTerms['scope'], { body, rows }: Derivation): GrantTerms['pins'] {
  const own = body.scope === undefined && body.pin === undefined ? null : toPins(scope, body.pin, rows);
  const inherited = Object.entries(parent.pins ?? {}).filter(([key]) =>
    isInScope(scope, rows.find(key) ?? { key, category: '' }),
  );
  const pins = { ...own, ...Object.fromEntries(inherited) };
  return Object.keys(pins).length === 0 ? null : pins;
}
