import { type EchoUpstream, startEchoUpstream } from '@rowcall/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Answer } from '../testing/client.js';
import { expireGrant, mintGrant, revokeGrant, type TestGrant } from '../testing/grants.js';
import { runQueue } from '../testing/queue.js';
import { startTestApi, type TestApi } from '../testing/test-api.js';

let api: TestApi;
let upstream: EchoUpstream;
let ran = 0;

beforeAll(async () => {
  upstream = await startEchoUpstream();
  api = await startTestApi();
  await addRow('OTHER', {});
});
afterAll(async () => {
  await api.close();
  await upstream.close();
});
beforeEach(() => {
  ran = upstream.requests.length;
});

const OTHER_CONTRACT = '0'.repeat(64);

/** A row that changes the world, with every reason to be careful about it. */
async function addRow(key: string, more: object): Promise<void> {
  const row = {
    key,
    type: 'http',
    target: `POST ${upstream.url}/${key}`,
    content: '# WHAT: Changes the world.\n# ARGS: $1=word\n$1',
    examples: ['word'],
    input_schema: { type: 'object', properties: { word: { type: 'string' } } },
    sensitive: true,
    limits: { cost_usd: 0.6 },
    ...more,
  };
  const answer = await api.owner.post('/api/directory', row);
  expect(answer.status, answer.text).toBe(201);
}

const receiptCount = async (): Promise<number> =>
  Number((await api.context.store.pool.query('select count(*) from receipt')).rows[0].count);

/** The receipt of a refused attempt, as it stands in the ledger. */
async function receiptOf(answer: Answer) {
  const { receipt: id } = answer.json<{ receipt: string }>();
  const { rows } = await api.context.store.pool.query(
    'select key, actor, outcome, status, error, material from receipt where id = $1',
    [id],
  );
  return rows[0];
}

/** The event of a refused attempt. */
async function eventOf(answer: Answer) {
  const { receipt: id } = answer.json<{ receipt: string }>();
  const { rows } = await api.context.store.pool.query(
    `select kind, actor, key, reason from event where detail ->> 'receipt' = $1`,
    [id],
  );
  return rows;
}

interface Reason {
  /** What the answer and the receipt say, given the row. */
  readonly literal: string | RegExp;
  readonly status: number;
  readonly terms?: object;
  readonly call?: object;
  /** What happens between the mint and the call. */
  readonly meanwhile?: (grant: TestGrant, key: string) => Promise<unknown>;
}

const change = (key: string, patch: object) =>
  api.owner.send('PATCH', `/api/directory/${key}`, { body: patch }).then((answer) => expect(answer.status).toBe(200));

const use = (grant: TestGrant, counters: string) =>
  api.context.store.pool.query(`update capability_grant set ${counters} where fingerprint = $1`, [grant.fingerprint]);

/** In the order of the gate. Each is tried together with all that come after it. */
const LADDER: readonly (readonly [string, Reason])[] = [
  ['expired', { literal: 'expired', status: 403, meanwhile: (grant) => expireGrant(api, grant) }],
  ['revoked', { literal: 'revoked', status: 403, meanwhile: (grant) => revokeGrant(api, grant) }],
  ['scope', { literal: 'scope_mismatch', status: 403, terms: { scope: { keys: ['OTHER'] } } }],
  [
    'state of the row',
    {
      literal: 'capability_disabled',
      status: 409,
      meanwhile: (_grant, key) => change(key, { enabled: false }),
    },
  ],
  ['audience', { literal: 'audience_bound:billing', status: 403, terms: { audience: 'billing' } }],
  [
    'contract',
    {
      literal: /^contract_changed:0{64}!=[0-9a-f]{64}$/,
      status: 409,
      terms: { owner_gate: true },
      call: { expect_contract: OTHER_CONTRACT },
    },
  ],
  ['effect', { literal: 'effect_not_granted', status: 403, terms: { effects: ['read'] } }],
  ['risk', { literal: 'risk_ceiling:low<row:high', status: 403, terms: { risk_ceiling: 'low' } }],
  ['fixed body', { literal: 'body_not_allowed:fixed_body_only', status: 403, terms: { fixed_body: 'fixed' } }],
  ['payload', { literal: 'payload_ceiling:5>4', status: 413, terms: { max_body_bytes: 4 } }],
  [
    'rate',
    {
      literal: 'rate_limited',
      status: 429,
      terms: { rate_per_minute: 3, owner_gate: false },
      meanwhile: (grant) => use(grant, 'window_calls = 3, window_at = now()'),
    },
  ],
  ['budget', { literal: 'budget_exhausted', status: 429, terms: { budget_usd: 0.5 } }],
  [
    'uses',
    { literal: 'token_exhausted', status: 429, terms: { max_uses: 2 }, meanwhile: (grant) => use(grant, 'uses = 2') },
  ],
];

/** A grant and a call for which every reason from the given one on holds. */
async function spoilFrom(index: number, key = `LADDER_${index}`) {
  await addRow(key, {});
  const reasons = LADDER.slice(index).map(([, reason]) => reason);
  // Of two that say the same, the first: what comes later is to give way.
  const terms = Object.assign({}, ...reasons.toReversed().map((reason) => reason.terms ?? {}));
  const grant = await mintGrant(api, { scope: { keys: [key] }, risk_ceiling: 'high', ...terms });
  for (const { meanwhile } of reasons.toReversed()) await meanwhile?.(grant, key);
  return { key, grant, call: { key, body: 'words', ...Object.assign({}, ...reasons.map(({ call }) => call ?? {})) } };
}

describe('the gate at the door', () => {
  it.each(LADDER.map(([name], index) => [name, index] as const))(
    'denies by %s before any later reason, runs nothing, and leaves a receipt and an event of the literal reason',
    async (_name, index) => {
      const { grant, call, key } = await spoilFrom(index);
      const answer = await grant.holder.invoke(call);
      const [, { literal, status }] = LADDER[index] ?? (LADDER[0] as (typeof LADDER)[number]);
      expect(answer.json()).toMatchObject({ error: expect.stringMatching(literal), status });
      expect(answer.status).toBe(status);
      expect(answer.json<{ error: string }>().error).toBe(
        typeof literal === 'string' ? literal : answer.json<{ error: string }>().error,
      );
      expect(await receiptOf(answer)).toEqual({
        key,
        actor: grant.actor,
        outcome: 'denied',
        status: 'PROVEN_ATTEMPT_NO_MATERIAL_RESULT',
        error: answer.json<{ error: string }>().error,
        material: false,
      });
      const { error: reason } = answer.json<{ error: string }>();
      expect(await eventOf(answer)).toEqual([{ kind: 'DENY', actor: grant.actor, key, reason }]);
      expect(upstream.requests).toHaveLength(ran);
    },
  );

  it('says when to come again where the rate is used up', async () => {
    const { grant, call } = await spoilFrom(
      LADDER.findIndex(([name]) => name === 'rate'),
      'RATED',
    );
    const answer = await grant.holder.invoke(call);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(Number(answer.headers['retry-after'])).toBeLessThanOrEqual(60);
  });

  it('allows the same call where no reason holds, and the receipt names the holder', async () => {
    await addRow('ALLOWED', {});
    const grant = await mintGrant(api, {
      scope: { keys: ['ALLOWED'] },
      risk_ceiling: 'high',
      budget_usd: 0.6,
      max_uses: 1,
      rate_per_minute: 1,
      max_body_bytes: 5,
      audience: 'billing',
    });
    const answer = await grant.holder.invoke({ key: 'ALLOWED', body: 'words' }, { 'x-audience': 'billing' });
    expect(answer.status, answer.text).toBe(200);
    const { proof } = answer.json<{ proof: { receipt: string; invocation_id: string } }>();
    const receipt = await api.owner.get(`/api/dispatch?receipt=${proof.invocation_id}`);
    expect(receipt.json()).toMatchObject({ receipt: { actor: grant.actor, outcome: 'succeeded', cost_usd: 0.6 } });
    expect(upstream.requests).toHaveLength(ran + 1);
  });

  it('denies a named row that changed since the mint, unless it was not pinned', async () => {
    await addRow('PINNED', { sensitive: false });
    const pinned = await mintGrant(api, { scope: { keys: ['PINNED'] } });
    const loose = await mintGrant(api, { scope: { keys: ['PINNED'] }, pin: false });
    const contract = async () =>
      (await api.owner.get('/api/dispatch?key=PINNED')).json<{ fingerprint: string }>().fingerprint;
    const before = await contract();
    await change('PINNED', { content: '# WHAT: Changes the world otherwise.\n# ARGS: $1=word\n$1' });
    const answer = await pinned.holder.invoke({ key: 'PINNED', body: 'w' });
    expect(answer.json()).toMatchObject({ error: `contract_changed:${before}!=${await contract()}` });
    expect(await receiptOf(answer)).toMatchObject({ outcome: 'denied', actor: pinned.actor });
    expect((await loose.holder.invoke({ key: 'PINNED', body: 'w' })).status).toBe(200);
  });

  it('ends a grant with every grant that it derives from', async () => {
    const root = await mintGrant(api, { scope: { keys: ['NOW'] } });
    const child = await root.holder.post('/api/grants/attenuate', {});
    const { token } = child.json<{ token: string }>();
    const headers = { authorization: `Bearer ${token}` };
    expect((await api.anyone.invoke({ key: 'NOW' }, headers)).status).toBe(200);
    await revokeGrant(api, root);
    expect((await api.anyone.invoke({ key: 'NOW' }, headers)).json()).toMatchObject({ error: 'revoked' });
  });

  it('answers a token of no grant with unauthorized, without a receipt', async () => {
    const before = await receiptCount();
    const token = `sh.${'A'.repeat(43)}`;
    for (const headers of [{ authorization: `Bearer ${token}` }, { 'x-share': token }]) {
      const answer = await api.anyone.invoke({ key: 'NOW' }, headers);
      expect(answer.status).toBe(401);
      expect(answer.json()).toMatchObject({ error: 'unauthorized' });
      expect(answer.json()).not.toHaveProperty('receipt');
    }
    expect((await api.anyone.invoke({ key: 'NOW', share: token })).status).toBe(401);
    expect((await api.anyone.get(`/api/dispatch?invoke=NOW&share=${token}`)).status).toBe(401);
    expect(await receiptCount()).toBe(before);
  });

  it('parks a call at the top that a person must agree to, and shows what would go in', async () => {
    const grant = await mintGrant(api, { scope: { keys: ['ECHO'] }, owner_gate: true, fixed_body: 'fixed' });
    const answer = await grant.holder.invoke({ key: 'ECHO' });
    expect(answer.status).toBe(202);
    expect(answer.json()).toMatchObject({ state: 'approval_required', ran: false });
    const { invocation_id: id } = answer.json<{ invocation_id: string }>();
    const { rows } = await api.context.store.pool.query('select request from approval where id = $1', [id]);
    expect(JSON.parse(rows[0].request)).toEqual({ body: 'fixed' });
  });

  it('parks no call of a grant of which nothing is left', async () => {
    const grant = await mintGrant(api, { scope: { keys: ['ECHO'] }, owner_gate: true, max_uses: 1 });
    await use(grant, 'uses = 1');
    const answer = await grant.holder.invoke({ key: 'ECHO', body: 'a' });
    expect(answer.json()).toMatchObject({ error: 'token_exhausted' });
    expect(await receiptOf(answer)).toMatchObject({ outcome: 'denied', error: 'token_exhausted' });
  });

  it('makes every check for a shape, and takes nothing', async () => {
    await addRow('SHAPED', {});
    const scope = { keys: ['SHAPED'] };
    const spent = await mintGrant(api, { scope, risk_ceiling: 'high', max_uses: 1 });
    const shape = { key: 'SHAPED', body: 'words', shape: true };
    for (let turn = 0; turn < 3; turn += 1) expect((await spent.holder.invoke(shape)).status).toBe(200);
    expect((await spent.holder.invoke({ key: 'SHAPED', body: 'words' })).status).toBe(200);
    expect((await spent.holder.invoke(shape)).json()).toMatchObject({ error: 'token_exhausted' });
    const low = await mintGrant(api, { scope });
    expect((await low.holder.invoke(shape)).json()).toMatchObject({ error: 'risk_ceiling:low<row:high' });
    expect(upstream.requests).toHaveLength(ran + 1);
  });

  it('takes no use for a call whose arguments are refused', async () => {
    await addRow('CHECKED', {});
    const grant = await mintGrant(api, { scope: { keys: ['CHECKED'] }, risk_ceiling: 'high', max_uses: 1 });
    expect((await grant.holder.invoke({ key: 'CHECKED', args: { word: 1 } })).status).toBe(400);
    expect((await grant.holder.invoke({ key: 'CHECKED', args: { word: 'a' } })).status).toBe(200);
  });
});

describe('a link', () => {
  const link = (key: string, token: string, more = '') => `/api/dispatch?invoke=${key}&body=a&share=${token}${more}`;

  it('runs a row for the holder of a grant, and is kept nowhere', async () => {
    const grant = await mintGrant(api, { scope: { keys: ['ECHO'] }, audience: 'mail' });
    const answer = await api.anyone.get(link('ECHO', grant.token, '&audience=mail'));
    expect(answer.json()).toMatchObject({ ok: true, result: 'a' });
    expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
    expect((await api.anyone.get(link('ECHO', grant.token))).json()).toMatchObject({ error: 'audience_bound:mail' });
  });

  it('passes the gate as every call does, with a receipt', async () => {
    await addRow('LINKED', {});
    const grant = await mintGrant(api, { scope: { keys: ['LINKED'] } });
    const answer = await api.anyone.get(link('LINKED', grant.token));
    expect(answer.status).toBe(403);
    expect(await receiptOf(answer)).toMatchObject({ error: 'risk_ceiling:low<row:high', actor: grant.actor });
    expect(answer.headers['cache-control']).toBe('no-store');
  });

  it.each([
    ['HEAD', 'HEAD', {}],
    ['Sec-Purpose: prefetch', 'GET', { 'sec-purpose': 'prefetch' }],
    ['Sec-Purpose: prefetch;prerender', 'GET', { 'sec-purpose': 'prefetch;prerender' }],
    ['Purpose: prefetch', 'GET', { purpose: 'prefetch' }],
    ['Purpose: Preview', 'GET', { purpose: 'Preview' }],
    ['X-Moz: prefetch', 'GET', { 'x-moz': 'prefetch' }],
    ['X-Purpose: preview', 'GET', { 'x-purpose': 'preview' }],
  ] as const)('runs nothing for %s, and leaves no receipt', async (_name, method, headers) => {
    const grant = await mintGrant(api, { scope: { keys: ['ECHO'] }, max_uses: 1 });
    const before = await receiptCount();
    const answer = await api.anyone.send(method, link('ECHO', grant.token), { headers });
    expect(answer.status).toBe(403);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(await receiptCount()).toBe(before);
    const { rows } = await api.context.store.pool.query('select uses from capability_grant where fingerprint = $1', [
      grant.fingerprint,
    ]);
    expect(Number(rows[0].uses)).toBe(0);
  });
});

describe('a queued call', () => {
  const outcomeOf = async (answer: Answer) => {
    const { invocation_id: id } = answer.json<{ invocation_id: string }>();
    return (await api.owner.get(`/api/dispatch?receipt=${id}`)).json<{ receipt: object }>().receipt;
  };

  it('runs with the authority that it was queued with', async () => {
    await addRow('QUEUED', {});
    const grant = await mintGrant(api, {
      scope: { keys: ['QUEUED'] },
      risk_ceiling: 'high',
      fixed_body: 'fixed',
      audience: 'x',
      max_uses: 1,
    });
    const call = { key: 'QUEUED', mode: 'async' };
    const answer = await grant.holder.invoke(call, { 'x-audience': 'x' });
    expect(answer.status).toBe(202);
    expect((await grant.holder.invoke(call, { 'x-audience': 'x' })).json()).toMatchObject({ error: 'token_exhausted' });
    await runQueue(api);
    expect(await outcomeOf(answer)).toMatchObject({ outcome: 'succeeded', actor: grant.actor });
    expect(upstream.requests.at(-1)?.body).toBe('fixed');
  });

  it('is denied when its grant is revoked meanwhile, and when the row leaves what the grant allows', async () => {
    await addRow('LATER', {});
    const terms = { scope: { keys: ['LATER'] }, risk_ceiling: 'high' };
    const [revoked, pinned] = [await mintGrant(api, terms), await mintGrant(api, terms)];
    const call = { key: 'LATER', body: 'words', mode: 'async' };
    const answers = [await revoked.holder.invoke(call), await pinned.holder.invoke(call)];
    await revokeGrant(api, revoked);
    await change('LATER', { content: '# WHAT: Changes.\n# ARGS: $1=word\nother $1' });
    await runQueue(api);
    const [first, second] = await Promise.all(answers.map(outcomeOf));
    expect(first).toMatchObject({ outcome: 'denied', error: 'revoked', actor: revoked.actor });
    expect(second).toMatchObject({ outcome: 'denied', error: expect.stringMatching(/^contract_changed:/) });
    expect(upstream.requests).toHaveLength(ran);
  });
});

describe('a replay', () => {
  const idOf = (answer: Answer) => answer.json<{ proof: { invocation_id: string } }>().proof.invocation_id;

  it('passes the gate anew, and fires only what the holder made itself', async () => {
    const grant = await mintGrant(api, { scope: { keys: ['ECHO'] }, max_uses: 2 });
    const own = idOf(await grant.holder.invoke({ key: 'ECHO', body: 'a' }));
    const others = idOf(await api.owner.invoke({ key: 'ECHO', body: 'b' }));
    expect((await grant.holder.invoke({ replay: others })).json()).toMatchObject({ error: 'unknown_receipt' });
    expect((await grant.holder.invoke({ replay: own })).json()).toMatchObject({ replay: { verdict: 'same' } });
    const third = await grant.holder.invoke({ replay: own });
    expect(third.json()).toMatchObject({ error: 'token_exhausted' });
    expect(await receiptOf(third)).toMatchObject({ outcome: 'denied', key: 'ECHO', actor: grant.actor });
  });

  it('by a row is a call of its own, which the same grant must allow', async () => {
    const terms = { scope: { keys: ['ECHO', 'OIP_REPLAY'] } };
    const grant = await mintGrant(api, terms);
    const first = idOf(await grant.holder.invoke({ key: 'ECHO', body: 'a' }));
    const again = await grant.holder.invoke({ key: 'OIP_REPLAY', body: first });
    expect(again.json()).toMatchObject({ ok: true, result: { fired: true, key: 'ECHO', replay: { of: first } } });

    const child = await grant.holder.post('/api/grants/attenuate', { scope: { keys: ['OIP_REPLAY'] } });
    const narrow = { authorization: `Bearer ${child.json<{ token: string }>().token}` };
    const denied = await api.anyone.invoke({ key: 'OIP_REPLAY', body: first }, narrow);
    expect(denied.json()).toMatchObject({ error: 'unknown_receipt' });
  });

  it('within an approved call waits for nobody: it is denied', async () => {
    const grant = await mintGrant(api, { scope: { keys: ['ECHO', 'OIP_REPLAY'] }, owner_gate: true });
    const approve = async (answer: Answer) => {
      const { invocation_id: id } = answer.json<{ invocation_id: string }>();
      await api.owner.post(`/api/approvals/${id}/approve`, {});
      return id;
    };
    const first = await approve(await grant.holder.invoke({ key: 'ECHO', body: 'a' }));
    const outer = await approve(await grant.holder.invoke({ key: 'OIP_REPLAY', body: first }));
    const { rows } = await api.context.store.pool.query('select key, error from receipt where parent = $1', [outer]);
    expect(rows).toEqual([{ key: 'ECHO', error: 'owner_gate_required' }]);
  });
});
