import type { Effect, Risk } from '@rowcall/protocol';
import type { Chain } from './grant.js';

/** Limits of which the least in a chain holds. */
type NumericLimit = 'max_body_bytes' | 'rate_per_minute' | 'budget_usd';

/** The least of a limit in a chain; undefined where no grant has one. */
export function lowestLimit(chain: Chain, limit: NumericLimit): number | undefined {
  const limits = chain.flatMap(({ terms }) => terms[limit] ?? []);
  return limits.length === 0 ? undefined : Math.min(...limits);
}

/** Tells whether every grant of the chain allows an effect. */
export function allowsEffect(chain: Chain, effect: Effect): boolean {
  return chain.every(({ terms }) => terms.effects.includes(effect));
}

/** Tells whether every grant of the chain allows rows of a risk. */
export function allowsRisk(chain: Chain, risk: Risk): boolean {
  return risk === 'low' || chain.every(({ terms }) => terms.risk_ceiling === 'high');
}

/** The body that the chain fixes: of the grant nearest to the owner that has one. Undefined where none has. */
export function fixedBodyOf(chain: Chain): string | undefined {
  return chain.find(({ terms }) => terms.fixed_body !== null)?.terms.fixed_body ?? undefined;
}

/** The audience that the chain is bound to, in the same way. */
export function audienceOf(chain: Chain): string | undefined {
  return chain.find(({ terms }) => terms.audience !== null)?.terms.audience ?? undefined;
}
