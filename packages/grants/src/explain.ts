import { EFFECTS, type GrantExplanation, type GrantState, type GrantTerms } from '@rowcall/protocol';
import { allowsEffect, allowsRisk, audienceOf, fixedBodyOf, lowestLimit } from './chain-limits.js';
import { type CallRequest, checkLive, findDenial, toEffectiveInput } from './checks.js';
import { listRows } from './covers.js';
import type { Chain, Grant, Rows } from './grant.js';

const KEYS_SHOWN_MAX = 50;

/** A grant with what its holders used of it so far. */
export interface GrantUse {
  readonly grant: Grant;
  readonly uses: number;
  readonly spent_usd: number;
}

/** What an explanation is made with. */
export interface ExplainContext {
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly rows: Rows;
}

/** A grant as it is answered, its times in RFC 3339. */
export type GrantDescription = Omit<Grant, 'created_at' | 'expires_at' | 'revoked_at' | 'terms'> &
  GrantTerms & { readonly created_at: string; readonly expires_at: string };

/** A grant as it is answered: its terms beside what it is. Never the token. */
export function describeGrant({ terms, revoked_at: _, ...grant }: Grant): GrantDescription {
  return { ...grant, created_at: toTime(grant.created_at), expires_at: toTime(grant.expires_at), ...terms };
}

/**
 * Tells whether a grant can be used: one that it derives from may have ended, or have nothing left, before it does.
 *
 * @param uses the chain, the owner's first
 * @param now milliseconds since 1970
 */
export function toState(uses: readonly GrantUse[], now: number): GrantState {
  const ended = checkLive(toChain(uses), now);
  if (ended !== undefined) return ended.code === 'expired' ? 'expired' : 'revoked';
  return usesLeft(uses) === 0 || budgetLeft(uses) === 0 ? 'exhausted' : 'active';
}

/**
 * Tells what the holder of a token may do now and what is left, by the checks that decide on calls. Limits are the least of
 * the chain; `scope` and `pins` are what the grant itself says, and `covers` what comes of them.
 *
 * @param uses the chain, the owner's first; not empty
 */
export function explain(uses: readonly GrantUse[], context: ExplainContext): GrantExplanation {
  const chain = toChain(uses);
  const leaf = chain.at(-1);
  if (leaf === undefined) throw new Error('the owner has no grant to explain');
  const state = toState(uses, context.now);
  const budget = budgetLeft(uses);
  const keys = state === 'active' ? callableKeys(chain, leaf, { ...context, budget }) : [];
  return {
    ...describeGrant(leaf),
    expires_at: toTime(Math.min(...chain.map(({ expires_at }) => expires_at))),
    effects: EFFECTS.filter((effect) => allowsEffect(chain, effect)),
    max_uses: least(chain.map(({ terms }) => terms.max_uses).filter((usesMax) => usesMax > 0)) ?? 0,
    audience: audienceOf(chain) ?? null,
    risk_ceiling: allowsRisk(chain, 'high') ? 'high' : 'low',
    owner_gate: chain.some(({ terms }) => terms.owner_gate),
    fixed_body: fixedBodyOf(chain) ?? null,
    max_body_bytes: lowestLimit(chain, 'max_body_bytes') ?? null,
    rate_per_minute: lowestLimit(chain, 'rate_per_minute') ?? null,
    budget_usd: lowestLimit(chain, 'budget_usd') ?? null,
    state,
    uses_left: usesLeft(uses),
    budget_left_usd: budget,
    covers: { count: keys.length, keys: keys.slice(0, KEYS_SHOWN_MAX) },
  };
}

function callableKeys(
  chain: Chain,
  leaf: Grant,
  { now, rows, budget }: ExplainContext & { readonly budget: number | null },
): string[] {
  const input = toEffectiveInput(chain, { body: '' });
  const request: CallRequest = { input, audience: audienceOf(chain), expectContract: undefined, approved: true };
  const callable: string[] = [];
  for (const row of listRows(leaf.terms.scope, rows)) {
    const isPaid = budget === null || row.price <= budget;
    if (isPaid && findDenial({ chain, row, request, input }, now) === undefined) callable.push(row.key);
  }
  return callable.sort();
}

/** Null where no grant of the chain limits uses. */
const usesLeft = (uses: readonly GrantUse[]): number | null =>
  least(uses.flatMap(({ grant: { terms }, uses: used }) => (terms.max_uses > 0 ? [terms.max_uses - used] : [])));

/** Null where no grant of the chain has a budget. */
const budgetLeft = (uses: readonly GrantUse[]): number | null =>
  least(
    uses.flatMap(({ grant: { terms }, spent_usd }) =>
      terms.budget_usd === null ? [] : [toMicros(terms.budget_usd - spent_usd)],
    ),
  );

/** Counted as it is stored, in millionths: 1 - 0.9 is 0.1. */
const toMicros = (usd: number): number => Math.round(usd * 1e6) / 1e6;

/** What is left of the least is nothing where more than all was used. */
const least = (values: readonly number[]): number | null =>
  values.length === 0 ? null : Math.max(0, Math.min(...values));

const toChain = (uses: readonly GrantUse[]): Chain => uses.map(({ grant }) => grant);
const toTime = (ms: number): string => new Date(ms).toISOString();
