import type { GrantTerms } from '@rowcall/protocol';
import type { CallRequest } from '../checks.js';
import type { Grant, RowFacts, Rows } from '../grant.js';

/** The time of the tests, in ms since 1970. */
export const NOW = 1_800_000_000_000;

/** A contract fingerprint of one digit, repeated. */
export const contract = (digit: string): string => digit.repeat(64);
/** A grant's fingerprint of one digit, repeated. */
export const cap = (digit: string): string => `cap_${digit.repeat(32)}`;

/** Terms that limit nothing. */
export const makeTerms = (terms: Partial<GrantTerms> = {}): GrantTerms => ({
  scope: 'act',
  effects: ['read', 'write', 'destructive'],
  max_uses: 0,
  audience: null,
  risk_ceiling: 'high',
  owner_gate: false,
  fixed_body: null,
  max_body_bytes: null,
  rate_per_minute: null,
  budget_usd: null,
  pins: null,
  ...terms,
});

export const makeGrant = ({
  terms,
  ...grant
}: Partial<Omit<Grant, 'terms'>> & { terms?: Partial<GrantTerms> }): Grant => ({
  fingerprint: cap('a'),
  parent: null,
  depth: 0,
  purpose: 'a test',
  actor: null,
  created_at: NOW - 1_000,
  expires_at: NOW + 3_600_000,
  revoked_at: null,
  terms: makeTerms(terms),
  ...grant,
});

export const makeRow = (row: Partial<RowFacts> = {}): RowFacts => ({
  key: 'ROW',
  category: 'books',
  enabled: true,
  effect: 'read',
  risk: 'low',
  price: 0,
  fingerprint: contract('1'),
  ...row,
});

export const makeRequest = (request: Partial<CallRequest> = {}): CallRequest => ({
  input: { body: '' },
  audience: undefined,
  expectContract: undefined,
  approved: false,
  ...request,
});

export const makeRows = (rows: readonly RowFacts[]): Rows => ({
  find: (key) => rows.find((row) => row.key === key),
  list: () => rows,
});
