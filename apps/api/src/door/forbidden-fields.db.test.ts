import { type EchoUpstream, startEchoUpstream } from '@rowcall/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { mintGrant, type TestGrant } from '../testing/grants.js';
import { startTestApi, type TestApi } from '../testing/test-api.js';

let api: TestApi;
let upstream: EchoUpstream;
let grant: TestGrant;
let receipts = 0;
let grants = 0;

beforeAll(async () => {
  upstream = await startEchoUpstream();
  api = await startTestApi();
  await api.owner.post('/api/directory', {
    key: 'HIT',
    type: 'http',
    target: `POST ${upstream.url}/hit`,
    content: '# WHAT: Is hit.\n$1',
    examples: ['a'],
  });
  grant = await mintGrant(api, {
    scope: { keys: ['HIT', 'CAP_MINT', 'CAP_REVOKE', 'CAP_EXPLAIN'] },
    effects: ['read', 'write', 'destructive'],
    risk_ceiling: 'high',
  });
});
afterAll(async () => {
  await api.close();
  await upstream.close();
});

const count = async (table: string): Promise<number> =>
  Number((await api.context.store.pool.query(`select count(*) from ${table}`)).rows[0].count);
beforeEach(async () => {
  [receipts, grants] = [await count('receipt'), await count('capability_grant')];
});

/** What only the server says of a call. */
const FIELDS: Readonly<Record<string, unknown>> = {
  actor: 'owner',
  id: `inv_${'0'.repeat(32)}`,
  invocation_id: `inv_${'0'.repeat(32)}`,
  receipt: `inv_${'0'.repeat(32)}`,
  receipt_id: `inv_${'0'.repeat(32)}`,
  trace: `t_${'0'.repeat(32)}`,
  parent: `inv_${'0'.repeat(32)}`,
  step: 1,
  depth: 0,
  cost: 0,
  cost_usd: 0,
  price: 0,
  tokens: 0,
  tokens_in: 0,
  tokens_out: 0,
  tokens_cached: 0,
  outcome: 'succeeded',
  status: 'PROVEN_MATERIAL_RESULT',
  material: true,
  proof: { ok: true },
  grant: `cap_${'0'.repeat(32)}`,
  grants: [],
  chain: [],
  caller: { actor: 'owner', chain: [] },
  approved: true,
  allowed: true,
  approval: true,
  owner: true,
  owner_key: 'x',
  started_at: '2026-01-01T00:00:00Z',
  startedAt: 0,
  finished_at: '2026-01-01T00:00:00Z',
  replay_of: `inv_${'0'.repeat(32)}`,
  replayOf: `inv_${'0'.repeat(32)}`,
  repaired_by: `inv_${'0'.repeat(32)}`,
  effect: 'read',
  risk: 'low',
  scope: 'act',
  effects: ['destructive'],
  lane: 'inline',
  runner: 'inline',
  audience: 'billing',
  fixed_body: 'x',
  claim: { actor: 'owner' },
  idempotency_key: 'k',
  idempotencyKey: 'k',
  row_version: 1,
  expectContract: 'a'.repeat(64),
  onBehalfOf: 'owner',
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  constructor: { prototype: {} },
};

describe('what only the server says of a call', () => {
  it.each(Object.keys(FIELDS))('cannot be said by a caller: %s', async (field) => {
    for (const client of [grant.holder, api.owner]) {
      const answer = await client.invoke({ key: 'HIT', body: 'a', [field]: FIELDS[field] });
      expect([field, answer.status]).toEqual([field, 400]);
      // A member that could reach a prototype is no JSON of ours.
      expect(answer.json()).toMatchObject({ error: field === 'constructor' ? 'invalid_json' : 'unrecognized_request' });
    }
    expect(await count('receipt')).toBe(receipts);
    expect(upstream.requests).toHaveLength(0);
  });

  it('cannot be said by way of a prototype', async () => {
    const answer = await api.owner.send('POST', '/api/dispatch', {
      body: '{"key":"HIT","body":"a","__proto__":{"actor":"x","approved":true}}',
    });
    expect(answer.status).toBe(400);
    expect(upstream.requests).toHaveLength(0);
  });

  it.each(Object.keys(FIELDS).filter((name) => !['share', 'audience'].includes(name)))(
    'nor in the address of a link: %s',
    async (field) => {
      const query = new URLSearchParams({
        invoke: 'HIT',
        body: 'a',
        share: grant.token,
        [field]: String(FIELDS[field]),
      });
      const answer = await api.anyone.get(`/api/dispatch?${query}`);
      expect([field, answer.status]).toEqual([field, 400]);
      expect(await count('receipt')).toBe(receipts);
      expect(upstream.requests).toHaveLength(0);
    },
  );
});

/** Members of a grant that its maker may ask for. */
const ASKED = new Set(['actor', 'scope', 'effects', 'audience', 'fixed_body']);
const STORED = [
  'fingerprint',
  'token',
  'token_hash',
  'created_by',
  'created_at',
  'expires_at',
  'revoked_at',
  'pins',
  'uses',
  'spent_usd',
  'terms',
];
const MINT_FIELDS = [...Object.keys(FIELDS).filter((name) => !ASKED.has(name) && name !== 'constructor'), ...STORED];

describe('what only the server says of a grant', () => {
  const base = { scope: { keys: ['HIT'] }, ttl_seconds: 60, max_uses: 1, purpose: 'p' };

  it.each(MINT_FIELDS)('cannot be said in a mint or a derivation: %s', async (field) => {
    const more = { [field]: FIELDS[field] ?? 'x' };
    for (const answer of [
      await api.owner.post('/api/grants', { ...base, ...more }),
      await grant.holder.post('/api/grants/attenuate', more),
    ]) {
      expect([field, answer.status, answer.json<{ error: string }>().error]).toEqual([field, 400, 'invalid_args']);
    }
    for (const [client, request] of [
      [api.owner, { ...base, ...more }],
      [grant.holder, more],
    ] as const) {
      for (const call of [{ body: JSON.stringify(request) }, { args: { request } }, { args: request }]) {
        const answer = await client.invoke({ key: 'CAP_MINT', ...call });
        expect([field, answer.status]).toEqual([field, 400]);
      }
    }
    expect(await count('capability_grant')).toBe(grants);
  });

  it('cannot be said to the rows that explain and revoke', async () => {
    for (const key of ['CAP_EXPLAIN', 'CAP_REVOKE']) {
      for (const field of Object.keys(FIELDS).filter((name) => !['grant', 'constructor'].includes(name))) {
        const answer = await grant.holder.invoke({
          key,
          args: { grant: grant.fingerprint, [field]: FIELDS[field] },
        });
        expect([key, field, answer.status]).toEqual([key, field, 400]);
      }
    }
    expect((await grant.holder.invoke({ key: 'HIT', body: 'a' })).status).toBe(200);
  });
});
