import { AppError } from '@rowcall/errors';
import type { AttenuateBody, GrantTerms } from '@rowcall/protocol';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { explain } from './explain.js';
import { decide } from './gate.js';
import type { Chain, Grant, RowFacts } from './grant.js';
import { GRANT_DEPTH_MAX, narrow } from './narrow.js';
import { attenuations, ends, RUNS, requests, rowSets, terms, times } from './testing/arbitrary.js';
import { cap, makeGrant, makeRows, NOW } from './testing/make.js';

vi.setConfig({ testTimeout: 1_800_000 });

/** The chain with a child derived by `narrow`, or as it was where that is refused. */
function derive(chain: Chain, body: AttenuateBody, rows: RowFacts[]): Chain {
  const fingerprint = cap(String(chain.length));
  try {
    return [...chain, narrow(chain, body, { fingerprint, now: NOW, rows: makeRows(rows) })];
  } catch (error) {
    if (error instanceof AppError) return chain;
    throw error;
  }
}

const root = fc
  .tuple(terms, ends, fc.integer({ min: 0, max: 19 }))
  .map(([granted, expires_at, chance]) =>
    makeGrant({ terms: granted, expires_at, revoked_at: chance === 0 ? NOW : null }),
  );
/** Children written by hand: their terms may allow anything. */
const written = fc.tuple(terms, ends).map(([granted, expires_at]) => makeGrant({ terms: granted, expires_at }));
const steps = fc.array(fc.oneof({ weight: 3, arbitrary: attenuations }, { weight: 1, arbitrary: written }), {
  minLength: 1,
  maxLength: GRANT_DEPTH_MAX,
});

const extend = (chain: Chain, step: AttenuateBody | Grant, rows: RowFacts[]): Chain =>
  'terms' in step ? [...chain, step] : derive(chain, step, rows);

const isAllowed = (chain: Chain, row: RowFacts, of: { request: Parameters<typeof decide>[2]; now: number }): boolean =>
  decide(chain, row, of.request, of.now).allowed;

/** How often the assumption of an implication held: one that never does proves nothing. */
const SHARE_MIN = 0.1;

test('what a child may do, each grant that it derives from may do, even where the child was written to do more', () => {
  let allowed = 0;
  fc.assert(
    fc.property(root, steps, rowSets, rowSets, requests, times, (parent, list, before, rows, request, now) => {
      const chain = list.reduce<Chain>((made, step) => extend(made, step, before), [parent]);
      return rows.every((row) => {
        const decisions = chain.map((_, index) => isAllowed(chain.slice(0, index + 1), row, { request, now }));
        allowed += Number(decisions.at(-1));
        // Once denied, denied for every child.
        return !decisions.includes(false) || decisions.indexOf(false) > decisions.lastIndexOf(true);
      });
    }),
    RUNS,
  );
  expect(allowed).toBeGreaterThan(RUNS.numRuns * SHARE_MIN);
});

test('a derived child alone allows nothing that its parent denies', () => {
  let allowed = 0;
  fc.assert(
    fc.property(root, attenuations, rowSets, requests, times, (parent, body, rows, request, now) => {
      const [, child] = derive([parent], body, rows);
      const may = rows.filter((row) => child !== undefined && isAllowed([child], row, { request, now }));
      allowed += may.length;
      return may.every((row) => isAllowed([parent], row, { request, now }));
    }),
    RUNS,
  );
  expect(allowed).toBeGreaterThan(RUNS.numRuns * SHARE_MIN);
});

const LIMITS = {
  expires_at: ({ expires_at }: Grant) => expires_at,
  max_uses: ({ terms: { max_uses } }: Grant) => (max_uses === 0 ? Number.POSITIVE_INFINITY : max_uses),
  max_body_bytes: limitOf('max_body_bytes'),
  rate_per_minute: limitOf('rate_per_minute'),
  budget_usd: limitOf('budget_usd'),
};

function limitOf(limit: 'max_body_bytes' | 'rate_per_minute' | 'budget_usd') {
  return ({ terms: granted }: { terms: GrantTerms }) => granted[limit] ?? Number.POSITIVE_INFINITY;
}

test('no limit of a derived child is above its parent’s', () => {
  let derived = 0;
  fc.assert(
    fc.property(root, fc.array(attenuations, { maxLength: 8 }), rowSets, (parent, bodies, rows) => {
      const chain = bodies.reduce<Chain>((made, body) => derive(made, body, rows), [parent]);
      derived += chain.length - 1;
      const isBelow = (child: Grant, above: Grant) =>
        child.parent === above.fingerprint &&
        child.depth === above.depth + 1 &&
        Object.values(LIMITS).every((limit) => limit(child) <= limit(above));
      return (
        chain.length <= 1 + GRANT_DEPTH_MAX &&
        chain.slice(1).every((child, index) => isBelow(child, chain[index] as Grant))
      );
    }),
    RUNS,
  );
  expect(derived).toBeGreaterThan(RUNS.numRuns * SHARE_MIN);
});

test('an explanation covers exactly the rows that the gate lets its holder call', () => {
  fc.assert(
    fc.property(root, steps, rowSets, times, (parent, list, rows, now) => {
      const chain = list.reduce<Chain>((made, step) => extend(made, step, rows), [parent]);
      const uses = chain.map((grant) => ({ grant, uses: 0, spent_usd: 0 }));
      const { audience, covers } = explain(uses, { now, rows: makeRows(rows) });
      const request = {
        input: { body: '' },
        audience: audience ?? undefined,
        expectContract: undefined,
        approved: true,
      };
      const callable = rows.filter((row) => isAllowed(chain, row, { request, now })).map(({ key }) => key);
      return covers.count === callable.length && covers.keys.join() === callable.sort().join();
    }),
    RUNS,
  );
});
