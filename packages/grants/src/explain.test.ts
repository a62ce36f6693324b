import { grantExplanationSchema } from '@rowcall/protocol';
import { describe, expect, it } from 'vitest';
import { describeGrant, explain, type GrantUse, toState } from './explain.js';
import type { Rows } from './grant.js';
import { cap, contract, makeGrant, makeRow, makeRows, NOW } from './testing/make.js';

const rows = makeRows([
  makeRow({ key: 'GET_BOOK' }),
  makeRow({ key: 'ADD_BOOK', effect: 'write' }),
  makeRow({ key: 'GET_SECRET', category: 'admin', risk: 'high' }),
  makeRow({ key: 'GET_OLD', enabled: false }),
]);

const use = (grant: Parameters<typeof makeGrant>[0], uses = 0, spent_usd = 0): GrantUse => ({
  grant: makeGrant(grant),
  uses,
  spent_usd,
});
const explained = (...uses: GrantUse[]) => explain(uses, { now: NOW, rows });

describe('an explanation', () => {
  it('says what the token may do, and what is left, over its whole chain', () => {
    const root = use(
      {
        fingerprint: cap('a'),
        expires_at: NOW + 5_000,
        terms: { effects: ['read', 'write'], max_uses: 10, budget_usd: 1, rate_per_minute: 5, audience: 'agents' },
      },
      8,
      0.25,
    );
    const leaf = use(
      {
        fingerprint: cap('b'),
        parent: cap('a'),
        depth: 1,
        purpose: 'one look',
        expires_at: NOW + 9_000,
        terms: { scope: { prefixes: ['GET_'] }, effects: ['read', 'destructive'], max_uses: 4, risk_ceiling: 'low' },
      },
      1,
    );
    const explanation = explained(root, leaf);
    expect(explanation).toEqual({
      fingerprint: cap('b'),
      parent: cap('a'),
      depth: 1,
      purpose: 'one look',
      actor: null,
      created_at: '2027-01-15T07:59:59.000Z',
      expires_at: '2027-01-15T08:00:05.000Z',
      scope: { prefixes: ['GET_'] },
      effects: ['read'],
      max_uses: 4,
      audience: 'agents',
      risk_ceiling: 'low',
      owner_gate: false,
      fixed_body: null,
      max_body_bytes: null,
      rate_per_minute: 5,
      budget_usd: 1,
      pins: null,
      state: 'active',
      uses_left: 2,
      budget_left_usd: 0.75,
      covers: { count: 1, keys: ['GET_BOOK'] },
    });
    expect(grantExplanationSchema.parse(explanation)).toEqual(explanation);
  });

  it('has null where nothing limits', () => {
    expect(explained(use({}))).toMatchObject({ max_uses: 0, uses_left: null, budget_left_usd: null });
  });

  it('covers what can be called now, by key, once a person agrees', () => {
    expect(explained(use({ terms: { owner_gate: true, audience: 'x' } })).covers).toEqual({
      count: 3,
      keys: ['ADD_BOOK', 'GET_BOOK', 'GET_SECRET'],
    });
  });

  it('covers no row that has changed since it was pinned', () => {
    const scope = { keys: ['ADD_BOOK', 'GET_BOOK'] };
    const pins = { GET_BOOK: contract('9'), ADD_BOOK: contract('1') };
    expect(explained(use({ terms: { scope, pins } })).covers.keys).toEqual(['ADD_BOOK']);
  });

  it('covers nothing when two grants of the chain contradict each other, whatever the child says', () => {
    const [one, other] = [use({ terms: { audience: 'a' } }), use({ terms: { audience: 'b' } })];
    expect(explained(one, other).covers.count).toBe(0);
    expect(explained(use({ terms: { scope: { keys: ['ADD_BOOK'] } } }), use({})).covers.keys).toEqual(['ADD_BOOK']);
    expect(explained(use({ terms: { scope: 'read' } }), use({})).covers.count).toBe(0);
  });

  it('counts all and shows the first 50', () => {
    const many = makeRows(Array.from({ length: 120 }, (_, index) => makeRow({ key: `K${1_000 - index}` })));
    const { count, keys } = explain([use({})], { now: NOW, rows: many }).covers;
    expect({ count, shown: keys.length, first: keys[0] }).toEqual({ count: 120, shown: 50, first: 'K1000' });
  });

  it('looks only at the rows that are named', () => {
    const named: Rows = {
      ...rows,
      list: () => {
        throw new Error('every row was looked at');
      },
    };
    expect(
      explain([use({ terms: { scope: { keys: ['GET_BOOK', 'GONE'] } } })], { now: NOW, rows: named }).covers,
    ).toEqual({
      count: 1,
      keys: ['GET_BOOK'],
    });
  });

  it('is not for the owner', () => {
    expect(() => explained()).toThrow('the owner has no grant');
  });
});

describe('the state', () => {
  it.each<[string, GrantUse[]]>([
    ['active', [use({ terms: { max_uses: 2 } }, 1)]],
    ['active', [use({ terms: { max_uses: 0 } }, 1_000)]],
    ['expired', [use({ expires_at: NOW, revoked_at: NOW })]],
    ['expired', [use({ expires_at: NOW }), use({})]],
    ['revoked', [use({ revoked_at: NOW, terms: { max_uses: 1 } }, 1)]],
    ['revoked', [use({}), use({ revoked_at: NOW })]],
    ['exhausted', [use({ terms: { max_uses: 2 } }, 2)]],
    ['exhausted', [use({ terms: { max_uses: 2 } }, 3), use({})]],
    ['exhausted', [use({ terms: { budget_usd: 1 } }, 0, 1.5)]],
  ])('is %s', (state, uses) => {
    expect(toState(uses, NOW)).toBe(state);
    const { covers } = explained(...uses);
    expect(covers.count > 0).toBe(state === 'active');
  });

  it('never shows less than nothing left', () => {
    const { uses_left, budget_left_usd } = explained(use({ terms: { max_uses: 2, budget_usd: 1 } }, 3, 1.5));
    expect({ uses_left, budget_left_usd }).toEqual({ uses_left: 0, budget_left_usd: 0 });
  });
});

it('a grant is described by its terms, and its times in RFC 3339', () => {
  const { terms, revoked_at: _, ...grant } = makeGrant({ actor: 'a job' });
  expect(describeGrant(makeGrant({ actor: 'a job' }))).toEqual({
    ...grant,
    ...terms,
    created_at: '2027-01-15T07:59:59.000Z',
    expires_at: '2027-01-15T09:00:00.000Z',
  });
});
