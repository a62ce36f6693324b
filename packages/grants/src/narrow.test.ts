import type { AttenuateBody, GrantTerms } from '@rowcall/protocol';
import { describe, expect, it } from 'vitest';
import type { Chain } from './grant.js';
import { narrow } from './narrow.js';
import { cap, contract, makeGrant, makeRow, makeRows, NOW } from './testing/make.js';

const rows = makeRows([
  makeRow({ key: 'GET_BOOK', category: 'books', fingerprint: contract('1') }),
  makeRow({ key: 'ADD_BOOK', category: 'books', fingerprint: contract('2') }),
  makeRow({ key: 'DROP_ALL', category: 'admin', fingerprint: contract('3') }),
]);
const CONTEXT = { fingerprint: cap('c'), now: NOW, rows };

const childOf = (chain: Chain, body: AttenuateBody) => narrow(chain, body, CONTEXT);
const derive = (terms: Partial<GrantTerms>, body: AttenuateBody) => childOf([makeGrant({ terms })], body).terms;
const LIMITED: Partial<GrantTerms> = {
  scope: { keys: ['GET_BOOK'], prefixes: ['ADD_'], categories: ['admin'] },
  effects: ['read', 'write'],
  max_uses: 10,
  audience: 'agents',
  risk_ceiling: 'low',
  owner_gate: true,
  fixed_body: 'x',
  max_body_bytes: 100,
  rate_per_minute: 60,
  budget_usd: 2,
  pins: { GET_BOOK: contract('1') },
};

describe('a child', () => {
  it('is as its parent where nothing is asked', () => {
    const parent = makeGrant({ purpose: 'the report', actor: 'a job', terms: LIMITED });
    expect(childOf([parent], {})).toEqual({
      ...parent,
      fingerprint: cap('c'),
      parent: parent.fingerprint,
      depth: 1,
      created_at: NOW,
    });
  });

  it('may have less of everything', () => {
    const asked = {
      effects: ['read'],
      max_uses: 1,
      audience: 'agents',
      risk_ceiling: 'low',
      owner_gate: true,
      fixed_body: 'x',
      max_body_bytes: 0,
      rate_per_minute: 1,
      budget_usd: 0.1,
    } satisfies AttenuateBody;
    expect(derive(LIMITED, { ...asked, scope: { keys: ['GET_BOOK'] } })).toEqual({
      ...asked,
      scope: { keys: ['GET_BOOK'] },
      pins: { GET_BOOK: contract('1') },
    });
  });

  it('may have limits where its parent has none', () => {
    const asked = {
      max_uses: 1_000,
      audience: 'agents',
      risk_ceiling: 'low',
      owner_gate: true,
      fixed_body: 'x',
      max_body_bytes: 1_000,
      rate_per_minute: 1_000,
      budget_usd: 1_000,
    } satisfies AttenuateBody;
    expect(derive({}, asked)).toMatchObject(asked);
  });

  it('says of its own why it exists and who holds it', () => {
    expect(childOf([makeGrant({})], { purpose: 'one look', actor: 'a guest' })).toMatchObject({
      purpose: 'one look',
      actor: 'a guest',
    });
  });
});

describe('a wider child is refused', () => {
  it.each<[AttenuateBody, string[]]>([
    [{ scope: 'act' }, ['scope']],
    [{ scope: 'read' }, ['scope']],
    [{ effects: ['read', 'destructive'] }, ['effects']],
    [{ max_uses: 11 }, ['max_uses']],
    [{ max_uses: 0 }, ['max_uses']],
    [{ audience: 'people' }, ['audience']],
    [{ risk_ceiling: 'high' }, ['risk_ceiling']],
    [{ owner_gate: false }, ['owner_gate']],
    [{ fixed_body: 'y' }, ['fixed_body']],
    [{ max_body_bytes: 101 }, ['max_body_bytes']],
    [{ rate_per_minute: 61 }, ['rate_per_minute']],
    [{ budget_usd: 2.01 }, ['budget_usd']],
    [{ pin: false }, ['pin']],
    [
      { budget_usd: 3, scope: 'act', max_uses: 5, owner_gate: false, rate_per_minute: 61 },
      ['scope', 'owner_gate', 'rate_per_minute', 'budget_usd'],
    ],
  ])('%j in %j', (body, wider) => {
    const refused = expect.objectContaining({
      reason: 'grant_wider',
      message: expect.stringContaining(`in ${wider.join(', ')}`),
      details: { wider },
    });
    expect(() => derive(LIMITED, body)).toThrow(refused);
  });
});

describe('a scope within another', () => {
  it.each<[GrantTerms['scope'], GrantTerms['scope'], boolean]>([
    ['act', 'act', true],
    ['act', 'read', true],
    ['act', { categories: ['any'] }, true],
    ['read', 'read', true],
    ['read', 'act', false],
    ['read', { keys: ['GET_BOOK'] }, false],
    [{ keys: ['GET_BOOK'] }, { keys: ['GET_BOOK', 'ADD_BOOK'] }, false],
    [{ keys: ['GET_BOOK'] }, { prefixes: ['GET_BOOK'] }, false],
    [{ prefixes: ['GET_'] }, { keys: ['GET_BOOK'] }, true],
    [{ prefixes: ['GET_'] }, { prefixes: ['GET_B'] }, true],
    [{ prefixes: ['GET_B'] }, { prefixes: ['GET_'] }, false],
    [{ prefixes: ['GET_'] }, { categories: ['books'] }, false],
    [{ categories: ['books'] }, { keys: ['GET_BOOK', 'ADD_BOOK'] }, true],
    [{ categories: ['books'] }, { keys: ['GET_BOOK', 'DROP_ALL'] }, false],
    [{ categories: ['books'] }, { categories: ['books', 'admin'] }, false],
    [{ categories: ['books', 'admin'] }, { categories: ['admin'] }, true],
    [{ keys: ['DROP_ALL'], categories: ['books'] }, { keys: ['DROP_ALL', 'GET_BOOK'] }, true],
  ])('%j has in it %j: %s', (outer, inner, within) => {
    const deriving = () => derive({ scope: outer }, { scope: inner });
    if (within) expect(deriving().scope).toEqual(inner);
    else expect(deriving).toThrow(expect.objectContaining({ reason: 'grant_wider' }));
  });

  it('names rows that there are', () => {
    const refused = expect.objectContaining({ reason: 'unknown_key', details: { unknown_keys: ['GET_NONE'] } });
    expect(() => derive({ scope: { prefixes: ['GET_'] } }, { scope: { keys: ['GET_NONE'] } })).toThrow(refused);
  });

  it('does not tell which rows there are beyond it', () => {
    const refusal = (key: string) => {
      try {
        return derive({ scope: { categories: ['books'] } }, { scope: { keys: [key] } });
      } catch (error) {
        return error;
      }
    };
    expect(refusal('DROP_ALL')).toMatchObject({ reason: 'grant_wider' });
    expect(refusal('DROP_NONE')).toEqual(refusal('DROP_ALL'));
  });
});

describe('time', () => {
  it('ends a child when it was asked to end', () => {
    expect(childOf([makeGrant({ expires_at: NOW + 100_000 })], { ttl_seconds: 60 }).expires_at).toBe(NOW + 60_000);
  });

  it('ends a child with its parent at the latest', () => {
    expect(childOf([makeGrant({ expires_at: NOW + 1 })], { ttl_seconds: 60 }).expires_at).toBe(NOW + 1);
  });

  it.each([
    ['expired', { expires_at: NOW }],
    ['revoked', { revoked_at: NOW }],
  ])('lets nothing be derived when a grant of the chain is %s', (reason, ended) => {
    const refused = expect.objectContaining({ reason });
    expect(() => childOf([makeGrant(ended)], {})).toThrow(refused);
    expect(() => childOf([makeGrant(ended), makeGrant({ depth: 1 })], {})).toThrow(refused);
  });
});

describe('depth', () => {
  it('is five derivations at the most', () => {
    expect(childOf([makeGrant({ depth: 4 })], {}).depth).toBe(5);
    expect(() => childOf([makeGrant({ depth: 5 })], {})).toThrow(expect.objectContaining({ reason: 'grant_too_deep' }));
  });
});

describe('pins of a child', () => {
  const pins = { GET_BOOK: contract('8'), ADD_BOOK: contract('9') };

  it('are those of the parent, even where a row has changed since', () => {
    const scope = { keys: ['GET_BOOK', 'ADD_BOOK'] };
    expect(derive({ scope, pins }, { scope: { keys: ['GET_BOOK'] } }).pins).toEqual({ GET_BOOK: contract('8') });
  });

  it('are made for rows that it names and its parent did not', () => {
    expect(derive({}, { scope: { keys: ['GET_BOOK'] } }).pins).toEqual({ GET_BOOK: contract('1') });
    expect(derive({}, { scope: { keys: ['GET_BOOK'] }, pin: false }).pins).toBeNull();
  });

  it('are made for the rows of its parent where that is asked', () => {
    const scope = { keys: ['GET_BOOK'] };
    expect(derive({ scope }, {}).pins).toBeNull();
    expect(derive({ scope }, { pin: true }).pins).toEqual({ GET_BOOK: contract('1') });
    expect(() => derive({ scope: 'act' }, { pin: true })).toThrow('scope.keys names');
  });
});

it('the owner has no grant to derive from', () => {
  expect(() => childOf([], {})).toThrow('the owner has no grant');
});
