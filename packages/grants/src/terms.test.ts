import { grantTermsSchema, type MintBody } from '@rowcall/protocol';
import { describe, expect, it } from 'vitest';
import { mint } from './terms.js';
import { cap, contract, makeRow, makeRows, NOW } from './testing/make.js';

const rows = makeRows([
  makeRow({ key: 'GET_BOOK', category: 'books', fingerprint: contract('1') }),
  makeRow({ key: 'ADD_BOOK', category: 'books', effect: 'write', fingerprint: contract('2') }),
  makeRow({ key: 'DROP_ALL', category: 'admin', effect: 'destructive', risk: 'high', fingerprint: contract('3') }),
]);

const mintOf = (body: Partial<MintBody>) =>
  mint(
    { scope: 'act', ttl_seconds: 60, max_uses: 0, purpose: 'a test', ...body },
    { fingerprint: cap('a'), now: NOW, rows },
  );
const termsOf = (body: Partial<MintBody>) => mintOf(body).terms;

describe('a grant of the owner’s', () => {
  it('has no limit that was not asked for, but low risk', () => {
    expect(mintOf({})).toEqual({
      fingerprint: cap('a'),
      parent: null,
      depth: 0,
      purpose: 'a test',
      actor: null,
      created_at: NOW,
      expires_at: NOW + 60_000,
      revoked_at: null,
      terms: {
        scope: 'act',
        effects: ['read'],
        max_uses: 0,
        audience: null,
        risk_ceiling: 'low',
        owner_gate: false,
        fixed_body: null,
        max_body_bytes: null,
        rate_per_minute: null,
        budget_usd: null,
        pins: null,
      },
    });
  });

  it('has every limit that was asked for', () => {
    const asked = {
      max_uses: 3,
      audience: 'agents',
      risk_ceiling: 'high',
      owner_gate: true,
      fixed_body: '',
      max_body_bytes: 0,
      rate_per_minute: 1,
      budget_usd: 0.5,
    } as const;
    expect(mintOf({ ...asked, actor: 'the night job' })).toMatchObject({ actor: 'the night job', terms: asked });
  });

  it('has terms that the strict schema of stored terms takes', () => {
    for (const scope of ['read', 'act', { keys: ['GET_BOOK'], prefixes: ['X'], categories: [] }] as const) {
      const terms = termsOf({ scope: structuredClone(scope) as MintBody['scope'] });
      expect(grantTermsSchema.parse(JSON.parse(JSON.stringify(terms)))).toEqual(terms);
    }
  });
});

describe('effects that were not asked for', () => {
  it.each<[MintBody['scope'], string[]]>([
    ['act', ['read']],
    ['read', ['read']],
    [{ keys: ['GET_BOOK'] }, ['read']],
    [{ keys: ['ADD_BOOK'] }, ['write']],
    [{ keys: ['DROP_ALL', 'GET_BOOK'] }, ['read', 'destructive']],
    [{ prefixes: ['ADD_'] }, ['read', 'write']],
    [{ categories: ['admin'] }, ['read', 'destructive']],
    [{ prefixes: ['NONE_'] }, ['read']],
    [{ keys: ['ADD_BOOK'], categories: ['admin'] }, ['read', 'write', 'destructive']],
    [{ keys: ['ADD_BOOK'], prefixes: [] }, ['write']],
  ])('are for %j: %j', (scope, effects) => {
    expect(termsOf({ scope }).effects).toEqual(effects);
  });

  it('give way to those that were', () => {
    expect(termsOf({ scope: { keys: ['GET_BOOK'] }, effects: ['write', 'read', 'write'] }).effects).toEqual([
      'read',
      'write',
    ]);
  });

  it('and a reader cannot have any other', () => {
    expect(() => termsOf({ scope: 'read', effects: ['read', 'write'] })).toThrow('calls nothing');
    expect(termsOf({ scope: 'read', effects: ['read'] }).effects).toEqual(['read']);
  });
});

describe('pins', () => {
  it('are the fingerprints that the named rows have now', () => {
    expect(termsOf({ scope: { keys: ['GET_BOOK', 'ADD_BOOK'], prefixes: ['D'] } }).pins).toEqual({
      GET_BOOK: contract('1'),
      ADD_BOOK: contract('2'),
    });
  });

  it('are none where they were declined, or no row is named', () => {
    expect(termsOf({ scope: { keys: ['GET_BOOK'] }, pin: false }).pins).toBeNull();
    expect(termsOf({ scope: { prefixes: ['GET_'] } }).pins).toBeNull();
  });

  it('are refused, not left out, where none can be', () => {
    for (const scope of ['act', { categories: ['books'] }] as const) {
      expect(() => termsOf({ scope: structuredClone(scope) as MintBody['scope'], pin: true })).toThrow(
        'scope.keys names',
      );
    }
  });
});

describe('scope', () => {
  it('is kept without repetitions and empty lists', () => {
    expect(termsOf({ scope: { keys: ['GET_BOOK', 'GET_BOOK'], prefixes: [], categories: ['x', 'x'] } }).scope).toEqual({
      keys: ['GET_BOOK'],
      categories: ['x'],
    });
  });

  it('names no row that there is not', () => {
    const refused = expect.objectContaining({
      reason: 'unknown_key',
      message: expect.stringContaining('NOPE, NEITHER'),
      details: { unknown_keys: ['NOPE', 'NEITHER'] },
    });
    expect(() => mintOf({ scope: { keys: ['NOPE', 'GET_BOOK', 'NEITHER'] } })).toThrow(refused);
  });
});
