import {
  type AttenuateBody,
  EFFECTS,
  type Effect,
  type GrantScope,
  type GrantTerms,
  type Risk,
} from '@rowcall/protocol';
import fc from 'fast-check';
import type { CallRequest } from '../checks.js';
import type { RowFacts } from '../grant.js';
import { contract, makeRequest, makeRow, makeTerms, NOW } from './make.js';

const given = process.env.ROWCALL_PROPERTY_RUNS;

/**
 * Property runs: 5,000, the same ones each time, so that a change fails by its own doing alone; or so many new ones as
 * `ROWCALL_PROPERTY_RUNS` says.
 */
export const RUNS = given === undefined ? { numRuns: 5_000, seed: 20_261_201 } : { numRuns: Number(given) };

const KEYS = ['GET_A', 'GET_B', 'ADD_A', 'A'];
const PREFIXES = ['GET_', 'GET_A', 'ADD_', 'A', 'G'];
const CATEGORIES = ['books', 'films'];

/** One value nine times of ten. */
const mostly = <Value>(usual: Value, rare: Value) =>
  fc.integer({ min: 0, max: 9 }).map((chance) => (chance > 0 ? usual : rare));

/** Few values of each kind, so that those of a grant, its child, a row and a request often meet. */
const contracts = mostly(contract('1'), contract('2'));
const bodies = fc.constantFrom('', 'a', 'é|b', 'abcdef');
const audiences = fc.constantFrom('x', 'y');
const effects = fc.subarray([...EFFECTS], { minLength: 1 });
const some = (values: string[]) => fc.subarray(values, { minLength: 1 });

const scopes: fc.Arbitrary<GrantScope> = fc.oneof(
  { weight: 4, arbitrary: fc.constant('act' as const) },
  { weight: 1, arbitrary: fc.constant('read' as const) },
  {
    weight: 5,
    arbitrary: fc
      .record({ keys: some(KEYS), prefixes: some(PREFIXES), categories: some(CATEGORIES) }, { requiredKeys: [] })
      .filter((scope) => Object.keys(scope).length > 0),
  },
);

/** Members of terms that a request has as well. Times, sizes and numbers about those of {@link requests}. */
const members = {
  scope: scopes,
  effects,
  max_uses: fc.integer({ min: 0, max: 5 }),
  risk_ceiling: fc.constantFrom('low' as const, 'high' as const),
  owner_gate: fc.boolean(),
};
const limits = {
  audience: audiences,
  fixed_body: bodies,
  max_body_bytes: fc.integer({ min: 0, max: 8 }),
  rate_per_minute: fc.integer({ min: 1, max: 5 }),
  budget_usd: fc.integer({ min: 1, max: 5 }),
};

/** A few members of a record: with all of them hardly a call would be allowed. */
const few = <Members extends Record<string, fc.Arbitrary<unknown>>>(members: Members) =>
  fc
    .array(
      fc.oneof(...Object.entries(members).map(([name, values]) => values.map((value) => [name, value] as const))),
      {
        maxLength: 3,
      },
    )
    .map(
      (entries) =>
        Object.fromEntries(entries) as {
          [Name in keyof Members]?: Members[Name] extends fc.Arbitrary<infer Value> ? Value : never;
        },
    );

/** Any terms, with a few limits. */
export const terms: fc.Arbitrary<GrantTerms> = few({
  ...members,
  ...limits,
  pins: fc.dictionary(fc.constantFrom(...KEYS), contracts, { maxKeys: 2 }),
}).map(makeTerms);

/** Requests for a child, wider or narrower, with a few members. */
export const attenuations: fc.Arbitrary<AttenuateBody> = few({
  ...members,
  ...limits,
  ttl_seconds: fc.integer({ min: 60, max: 180 }),
  pin: fc.boolean(),
});

/** When a grant ends. */
export const ends = fc.integer({ min: 1, max: 400 }).map((seconds) => NOW + seconds * 1_000);
/** When a call is made: mostly before grants end. */
export const times = fc.integer({ min: 0, max: 100 }).map((seconds) => NOW + seconds * 1_000);

/** All rows that grants name, as they may be at some time. */
export const rowSets: fc.Arbitrary<RowFacts[]> = fc.tuple(
  ...KEYS.map((key) =>
    fc
      .record({
        category: fc.constantFrom(...CATEGORIES),
        effect: fc.constantFrom<Effect[]>('read', 'read', ...EFFECTS),
        risk: mostly<Risk>('low', 'high'),
        enabled: mostly(true, false),
        fingerprint: contracts,
      })
      .map((row) => makeRow({ key, ...row })),
  ),
);

/** Calls as they may be asked for. */
export const requests: fc.Arbitrary<CallRequest> = fc
  .record(
    {
      input: fc.oneof(
        bodies.map((body) => ({ body })),
        fc.constant({ args: { a: 1 } }),
      ),
      audience: audiences,
      expectContract: contracts,
      approved: fc.boolean(),
    },
    { requiredKeys: [] },
  )
  .map(makeRequest);
