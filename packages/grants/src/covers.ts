import type { GrantScope } from '@rowcall/protocol';
import type { Chain, RowFacts, Rows } from './grant.js';

/** What a scope looks at. */
export type Place = Pick<RowFacts, 'key' | 'category'>;

const keySets = new WeakMap<object, ReadonlySet<string>>();

/** Scopes name up to a thousand keys, and lists of rows ask for each row. */
function keysOf(scope: Exclude<GrantScope, string>): ReadonlySet<string> {
  const known = keySets.get(scope) ?? new Set(scope.keys);
  keySets.set(scope, known);
  return known;
}

/** Tells whether one scope has a row in it. */
export function isInScope(scope: GrantScope, { key, category }: Place): boolean {
  if (typeof scope === 'string') return true;
  return (
    keysOf(scope).has(key) ||
    (scope.prefixes?.some((prefix) => key.startsWith(prefix)) ?? false) ||
    (scope.categories?.includes(category) ?? false)
  );
}

/**
 * Tells whether the holder may see a row: the one predicate of ask, registry, map, contract and the gate. The owner may
 * see every row, and so does a grant of scope `read` or `act`.
 */
export function covers(chain: Chain, row: Place): boolean {
  return chain.every(({ terms }) => isInScope(terms.scope, row));
}

/** Tells whether the holder may read what others did, such as every receipt: the owner, and a grant of scope `read`. */
export function mayRead(chain: Chain): boolean {
  return chain.every(({ terms }) => terms.scope === 'read');
}

/** Tells whether the scope of each grant lets rows be called at all. */
export function mayCall(chain: Chain): boolean {
  return chain.every(({ terms }) => terms.scope !== 'read');
}

/**
 * Tells whether a scope lies within another, whatever rows come later. A key is held to the category that its row has now.
 * Within `read` lies only itself: it sees every row and calls none, so that each other scope would call more.
 */
export function isWithin(inner: GrantScope, outer: GrantScope, rows: Pick<Rows, 'find'>): boolean {
  if (outer === 'act') return true;
  if (typeof outer === 'string' || typeof inner === 'string') return inner === outer;
  return (
    (inner.keys ?? []).every((key) => isInScope(outer, rows.find(key) ?? { key, category: '' })) &&
    (inner.prefixes ?? []).every((prefix) => outer.prefixes?.some((start) => prefix.startsWith(start)) ?? false) &&
    (inner.categories ?? []).every((category) => outer.categories?.includes(category) ?? false)
  );
}

/** The rows in a scope, now. */
export function* listRows(scope: GrantScope, rows: Rows): Iterable<RowFacts> {
  for (const row of toCandidates(scope, rows)) if (isInScope(scope, row)) yield row;
}

/** A scope of keys alone needs no look at every row. */
function toCandidates(scope: GrantScope, rows: Rows): Iterable<RowFacts> {
  if (typeof scope === 'string' || scope.prefixes !== undefined || scope.categories !== undefined) return rows.list();
  return [...keysOf(scope)].flatMap((key) => rows.find(key) ?? []);
}
