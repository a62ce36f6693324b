import { AppError } from '@rowcall/errors';
import { EFFECTS, type Effect, type GrantScope, type GrantTerms, type MintBody } from '@rowcall/protocol';
import { listRows } from './covers.js';
import type { Grant, Rows } from './grant.js';

/** What a new grant is made with, beside what was asked for. */
export interface MintContext {
  /** Of the token that was drawn for it. */
  readonly fingerprint: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly rows: Rows;
}

/**
 * Makes a grant of the owner's.
 *
 * @throws AppError unknown_key naming the keys in scope that no row has; invalid_args for a request that contradicts itself
 */
export function mint(body: MintBody, { fingerprint, now, rows }: MintContext): Grant {
  return {
    fingerprint,
    parent: null,
    depth: 0,
    purpose: body.purpose,
    actor: body.actor ?? null,
    created_at: now,
    expires_at: toExpiry(now, body.ttl_seconds),
    revoked_at: null,
    terms: toTerms(body, rows),
  };
}

/** @returns milliseconds since 1970 */
export const toExpiry = (now: number, ttlSeconds: number): number => now + ttlSeconds * 1_000;

/** The terms of a request, with what it leaves out filled in. */
function toTerms(body: MintBody, rows: Rows): GrantTerms {
  const scope = toScope(body.scope);
  requireKnown(scope, rows);
  return {
    scope,
    effects: toEffects(scope, body.effects, rows),
    max_uses: body.max_uses,
    audience: body.audience ?? null,
    risk_ceiling: body.risk_ceiling ?? 'low',
    owner_gate: body.owner_gate ?? false,
    fixed_body: body.fixed_body ?? null,
    max_body_bytes: body.max_body_bytes ?? null,
    rate_per_minute: body.rate_per_minute ?? null,
    budget_usd: body.budget_usd ?? null,
    pins: toPins(scope, body.pin, rows),
  };
}

/** A scope without empty lists and repetitions. */
export function toScope(scope: GrantScope): GrantScope {
  if (typeof scope === 'string') return scope;
  const lists = Object.entries(scope).map(([name, values]) => [name, [...new Set(values)]] as const);
  return Object.fromEntries(lists.filter(([, values]) => values.length > 0));
}

/** @throws AppError unknown_key naming the keys in scope that no row has */
export function requireKnown(scope: GrantScope, rows: Pick<Rows, 'find'>): void {
  const unknown = keysIn(scope).filter((key) => rows.find(key) === undefined);
  if (unknown.length === 0) return;
  throw new AppError('unknown_key', `no row has the key ${unknown.join(', ')}`, {
    details: { unknown_keys: unknown },
    fix: 'correct the keys in scope that the message names, or leave them out',
  });
}

/**
 * The fingerprints that the named rows have now; null for none.
 *
 * @param pin as in the request: undefined is true where the scope names rows
 * @throws AppError invalid_args when a scope that names none is to be pinned
 */
export function toPins(scope: GrantScope, pin: boolean | undefined, rows: Pick<Rows, 'find'>): GrantTerms['pins'] {
  const keys = keysIn(scope);
  if (pin === true && keys.length === 0) {
    throw new AppError('invalid_args', 'pin holds the rows that scope.keys names, and it names none');
  }
  const pins = keys.flatMap((key) => {
    const row = rows.find(key);
    return row === undefined ? [] : [[key, row.fingerprint] as const];
  });
  return pin === false || pins.length === 0 ? null : Object.fromEntries(pins);
}

const keysIn = (scope: GrantScope): readonly string[] => (typeof scope === 'string' ? [] : (scope.keys ?? []));

/** Mildest first. What was not asked for is `read`, or what the rows in scope do now. */
function toEffects(scope: GrantScope, asked: readonly Effect[] | undefined, rows: Rows): Effect[] {
  if (scope === 'read' && asked?.some((effect) => effect !== 'read')) {
    throw new AppError('invalid_args', 'a grant of scope "read" calls nothing: leave effects out');
  }
  const granted = new Set(asked ?? neededEffects(scope, rows));
  return EFFECTS.filter((effect) => granted.has(effect));
}

function neededEffects(scope: GrantScope, rows: Rows): readonly Effect[] {
  if (typeof scope === 'string') return ['read'];
  const needed = [...listRows(scope, rows)].map(({ effect }) => effect);
  const isOpen = scope.prefixes !== undefined || scope.categories !== undefined;
  return isOpen ? ['read', ...needed] : needed;
}
