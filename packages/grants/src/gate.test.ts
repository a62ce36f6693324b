import { ERROR_CODES } from '@rowcall/errors';
import type { GrantTerms } from '@rowcall/protocol';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { type CallRequest, type Denied, toAppError } from './checks.js';
import { Allowed, decide } from './gate.js';
import type { Chain, Grant, RowFacts } from './grant.js';
import { cap, contract, makeGrant, makeRequest, makeRow, NOW } from './testing/make.js';

/** One thing that is wrong with a call, and what comes of it. */
interface Violation {
  readonly reason: string;
  readonly status: number;
  readonly grant?: Partial<Omit<Grant, 'terms'>>;
  readonly terms?: Partial<GrantTerms>;
  readonly row?: Partial<RowFacts>;
}

/** In the order in which the gate looks. Each may be put together with all that follow. */
const VIOLATIONS: readonly Violation[] = [
  { reason: 'expired', status: 403, grant: { expires_at: NOW } },
  { reason: 'revoked', status: 403, grant: { revoked_at: NOW - 1 } },
  { reason: 'scope_mismatch', status: 403, terms: { scope: { keys: ['OTHER'] } } },
  { reason: 'capability_disabled', status: 409, row: { enabled: false } },
  { reason: 'audience_bound:agents', status: 403, terms: { audience: 'agents' } },
  { reason: 'owner_gate_required', status: 403, terms: { owner_gate: true } },
  {
    reason: `contract_changed:${contract('0')}!=${contract('1')}`,
    status: 409,
    terms: { pins: { ROW: contract('0') } },
  },
  { reason: 'effect_not_granted', status: 403, terms: { effects: ['read'] }, row: { effect: 'write' } },
  { reason: 'risk_ceiling:low<row:high', status: 403, terms: { risk_ceiling: 'low' }, row: { risk: 'high' } },
  { reason: 'body_not_allowed:fixed_body_only', status: 403, terms: { fixed_body: 'fixed' } },
  { reason: 'payload_ceiling:6>5', status: 413, terms: { max_body_bytes: 5 } },
];

const toGrant = (violations: readonly Violation[]): Grant =>
  makeGrant({
    ...Object.assign({}, ...violations.map(({ grant }) => grant)),
    terms: Object.assign({}, ...violations.map(({ terms }) => terms)),
  });
const toRow = (violations: readonly Violation[]): RowFacts =>
  makeRow(Object.assign({}, ...violations.map(({ row }) => row)));

/** The literal reason and the status of a denial. */
function outcome(decision: Allowed | Denied) {
  if (decision.allowed) return 'allowed';
  const error = toAppError(decision);
  return { reason: error.reason, status: ERROR_CODES[error.code].status };
}

const CLEAN = makeGrant({});
const REQUEST: CallRequest = makeRequest({ input: { body: 'other!' } });

describe.each(VIOLATIONS.map((violation, index) => ({ ...violation, index })))(
  'a call denied by $reason',
  (violation) => {
    const { reason, status, index } = violation;
    const [first, ...later] = VIOLATIONS.slice(index) as [Violation, ...Violation[]];

    it.each<[string, Chain]>([
      ['the grant', [toGrant([violation])]],
      ['a parent, though the child would allow it', [toGrant([violation]), CLEAN]],
      ['a child, though the parent would allow it', [CLEAN, toGrant([violation])]],
      ['a grant in the middle', [CLEAN, toGrant([violation]), CLEAN]],
    ])('is denied by %s', (_, chain) => {
      expect(outcome(decide(chain, toRow([violation]), REQUEST, NOW))).toEqual({ reason, status });
    });

    it.each<[string, Chain]>([
      ['in one grant', [toGrant([first, ...later])]],
      ['of a parent, behind its own in the child', [toGrant(later), toGrant([first])]],
      ['of a child, behind its own in the parent', [toGrant([first]), toGrant(later)]],
    ])('comes before every later reason %s', (_, chain) => {
      expect(outcome(decide(chain, toRow([first, ...later]), REQUEST, NOW))).toEqual({ reason, status });
    });
  },
);

it('allows what no check denies', () => {
  expect(outcome(decide([CLEAN, CLEAN], toRow([]), REQUEST, NOW))).toBe('allowed');
});

describe('the owner', () => {
  it('is held to no limit of a grant', () => {
    const row = makeRow({ effect: 'destructive', risk: 'high' });
    expect(outcome(decide([], row, REQUEST, NOW))).toBe('allowed');
  });

  it('may not call a disabled row', () => {
    expect(outcome(decide([], makeRow({ enabled: false }), REQUEST, NOW))).toEqual({
      reason: 'capability_disabled',
      status: 409,
    });
  });

  it('is told when the row is not the one that was expected', () => {
    const request = makeRequest({ expectContract: contract('7') });
    const reason = `contract_changed:${contract('7')}!=${contract('1')}`;
    expect(outcome(decide([], makeRow(), request, NOW))).toEqual({ reason, status: 409 });
    expect(outcome(decide([], makeRow(), makeRequest({ expectContract: contract('1') }), NOW))).toBe('allowed');
  });
});

describe('time', () => {
  it('allows a call up to the millisecond before the expiry', () => {
    expect(outcome(decide([makeGrant({ expires_at: NOW + 1 })], makeRow(), REQUEST, NOW))).toBe('allowed');
  });

  it('takes an expiry that is no number for past', () => {
    const chain = [makeGrant({ expires_at: Number.NaN })];
    expect(outcome(decide(chain, makeRow(), REQUEST, NOW))).toMatchObject({ reason: 'expired' });
  });
});

describe('scope', () => {
  it.each<[GrantTerms['scope'], boolean]>([
    ['act', true],
    ['read', false],
    [{ keys: ['A', 'ROW'] }, true],
    [{ prefixes: ['RO'] }, true],
    [{ prefixes: ['OW'] }, false],
    [{ categories: ['books'] }, true],
    [{ categories: ['book'] }, false],
    [{ keys: ['A'], prefixes: ['B'], categories: ['books'] }, true],
    [{}, false],
  ])('%j lets the row be called: %s', (scope, allowed) => {
    const decision = decide([makeGrant({ terms: { scope } })], makeRow(), REQUEST, NOW);
    expect(outcome(decision)).toEqual(allowed ? 'allowed' : { reason: 'scope_mismatch', status: 403 });
  });
});

describe('audience', () => {
  const bound = makeGrant({ terms: { audience: 'agents' } });

  it('lets the one that the grant is bound to call', () => {
    expect(outcome(decide([bound], makeRow(), makeRequest({ audience: 'agents' }), NOW))).toBe('allowed');
  });

  it('denies all when two grants of a chain are bound to different ones', () => {
    const chain = [bound, makeGrant({ terms: { audience: 'people' } })];
    const reasonFor = (audience: string) => outcome(decide(chain, makeRow(), makeRequest({ audience }), NOW));
    expect(reasonFor('agents')).toMatchObject({ reason: 'audience_bound:people' });
    expect(reasonFor('people')).toMatchObject({ reason: 'audience_bound:agents' });
  });
});

describe('the owner gate', () => {
  const gated = makeGrant({ terms: { owner_gate: true, effects: ['read'] } });

  it('opens for a call that a person agreed to', () => {
    const decision = decide([gated], makeRow(), makeRequest({ approved: true }), NOW);
    expect(decision).toMatchObject({ allowed: true, approved: true });
  });

  it('does not open what a later check denies', () => {
    const decision = decide([gated], makeRow({ effect: 'write' }), makeRequest({ approved: true }), NOW);
    expect(outcome(decision)).toMatchObject({ reason: 'effect_not_granted' });
  });
});

describe('pins', () => {
  it('hold each row to its own fingerprint', () => {
    const pinned = makeGrant({ terms: { pins: { ROW: contract('1'), OTHER: contract('2') } } });
    expect(outcome(decide([pinned], makeRow(), REQUEST, NOW))).toBe('allowed');
  });

  it('are told before what the caller expects', () => {
    const chain = [makeGrant({ terms: { pins: { ROW: contract('3') } } })];
    const request = makeRequest({ expectContract: contract('4') });
    expect(outcome(decide(chain, makeRow(), request, NOW))).toMatchObject({
      reason: `contract_changed:${contract('3')}!=${contract('1')}`,
    });
  });
});

describe('a fixed body', () => {
  const fixed = makeGrant({ terms: { fixed_body: 'a|b' } });
  const inputOf = (chain: Chain, input: CallRequest['input']) => {
    const decision = decide(chain, makeRow(), makeRequest({ input }), NOW);
    return decision.allowed ? decision.input : toAppError(decision).reason;
  };

  it('takes the place of no body', () => {
    expect(inputOf([CLEAN, fixed], { body: '' })).toEqual({ body: 'a|b' });
  });

  it('may be sent as it is', () => {
    expect(inputOf([fixed], { body: 'a|b' })).toEqual({ body: 'a|b' });
  });

  it.each([{ body: 'a|b ' }, { body: ' ' }, { args: {} }, { args: { a: 'a|b' } }])('refuses %j', (input) => {
    expect(inputOf([fixed], input)).toBe('body_not_allowed:fixed_body_only');
  });

  it('may be the empty one', () => {
    const empty = makeGrant({ terms: { fixed_body: '' } });
    expect(inputOf([empty], { body: '' })).toEqual({ body: '' });
    expect(inputOf([empty], { body: 'x' })).toBe('body_not_allowed:fixed_body_only');
  });

  it('lets nothing through when two grants of a chain fix different ones', () => {
    const chain = [fixed, makeGrant({ terms: { fixed_body: 'c' } })];
    for (const body of ['', 'a|b', 'c']) expect(inputOf(chain, { body })).toBe('body_not_allowed:fixed_body_only');
  });

  it('is held to the payload ceiling', () => {
    expect(inputOf([makeGrant({ terms: { fixed_body: 'a|b', max_body_bytes: 2 } })], { body: '' })).toBe(
      'payload_ceiling:3>2',
    );
  });
});

describe('the payload ceiling', () => {
  const reasonFor = (input: CallRequest['input'], ...ceilings: number[]) => {
    const chain = ceilings.map((bytes) => makeGrant({ terms: { max_body_bytes: bytes } }));
    return outcome(decide(chain, makeRow(), makeRequest({ input }), NOW));
  };

  it('counts the UTF-8 bytes of a body', () => {
    expect(reasonFor({ body: 'é€😀' }, 9)).toBe('allowed');
    expect(reasonFor({ body: 'é€😀' }, 8)).toEqual({ reason: 'payload_ceiling:9>8', status: 413 });
  });

  it('counts the bytes of the JSON of arguments', () => {
    expect(reasonFor({ args: { a: 'é' } }, 10)).toBe('allowed');
    expect(reasonFor({ args: { a: 'é' } }, 9)).toMatchObject({ reason: 'payload_ceiling:10>9' });
  });

  it('is the lowest of a chain, and 0 allows an empty body', () => {
    expect(reasonFor({ body: 'abcd' }, 3, 2)).toMatchObject({ reason: 'payload_ceiling:4>2' });
    expect(reasonFor({ body: 'abcd' }, 2, 3)).toMatchObject({ reason: 'payload_ceiling:4>2' });
    expect(reasonFor({ body: '' }, 0)).toBe('allowed');
  });
});

describe('Allowed', () => {
  const decision = decide(
    [makeGrant({ fingerprint: cap('a') }), makeGrant({ fingerprint: cap('b') })],
    makeRow(),
    makeRequest({ input: { args: { a: 1 } } }),
    NOW,
  ) as Allowed;

  it('carries what was decided', () => {
    const { allowed, key, contract: decided, input, grants, approved } = decision;
    expect({ allowed, key, decided, input, grants, approved }).toEqual({
      allowed: true,
      key: 'ROW',
      decided: contract('1'),
      input: { args: { a: 1 } },
      grants: [cap('a'), cap('b')],
      approved: false,
    });
  });

  it('is made by the gate alone', () => {
    // @ts-expect-error the constructor is private
    expect(() => new Allowed(Symbol('decided by the gate'), {})).toThrow('only the gate allows a call');
    // Not even through an instance, whose constructor can be reached at run time.
    const Reached = decision.constructor as unknown as new (...values: unknown[]) => Allowed;
    expect(() => new Reached()).toThrow('only the gate allows a call');
    expect(() => Reflect.construct(Reached, [undefined, decision])).toThrow('only the gate allows a call');
  });

  it('cannot be made up of an object with its members, nor of a copy', () => {
    const { allowed, key, contract: decided, input, grants, approved } = decision;
    const members = { allowed, key, contract: decided, input, grants, approved };
    // @ts-expect-error an object with the same members is not an Allowed
    const madeUp: Allowed = members;
    expect(madeUp).not.toBeInstanceOf(Allowed);
    const forged = Object.create(Allowed.prototype, { allowed: { value: true } }) as Allowed;
    expect(() => forged.key).toThrow(TypeError);
    expect(Object.keys({ ...decision })).toEqual(['allowed']);
    expectTypeOf<typeof members>().not.toMatchTypeOf<Allowed>();
  });
});
