import { createHash } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { startUpstream, type TestUpstream } from '@rowcall/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Answer } from '../../testing/client.js';
import { startTestApi, type TestApi } from '../../testing/test-api.js';

const CREDENTIAL = 'the-credential-of-the-upstream';
const PAY = { key: 'PAY', type: 'http', category: 'test', content: '# WHAT: Pays.\n{"sum": "$1"}', examples: ['1'] };

let here: TestApi;
let there: TestApi;
let upstream: TestUpstream;
let paid: string[] = [];
/** Resolves when the upstream may answer. */
let released: Promise<void> | undefined;

beforeAll(async () => {
  upstream = await startUpstream((request, response) => {
    void text(request).then(async (body) => {
      paid.push(body);
      await released;
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"paid":true}');
    });
  });
  const credentials = { PAY_TOKEN: CREDENTIAL };
  here = await startTestApi({ credentials });
  there = await startTestApi({ databaseUrl: here.databaseUrl, credentials });
  await addRow({ ...PAY, target: `POST ${upstream.url}/pay`, auth: 'bearer:PAY_TOKEN' });
});
beforeEach(() => {
  paid = [];
});
afterAll(async () => {
  await there.close();
  await here.close();
  await upstream.close();
});

async function addRow(row: Readonly<Record<string, unknown>> & { key: string }): Promise<void> {
  expect(await here.owner.post('/api/directory', row)).toMatchObject({ status: 201 });
  await vi.waitFor(() => expect(there.context.catalogue.find(row.key)).toBeDefined());
}

interface Minted {
  readonly fingerprint: string;
  readonly bearer: Record<string, string>;
}

async function mint(grant: object = {}): Promise<Minted> {
  const terms = { scope: { keys: ['PAY'] }, effects: ['write'], risk_ceiling: 'high', owner_gate: true, max_uses: 0 };
  const answer = await here.owner.post('/api/grants', { ttl_seconds: 3_600, purpose: 'test', ...terms, ...grant });
  expect(answer.status, answer.text).toBe(201);
  const { token, fingerprint } = answer.json<{ token: string; fingerprint: string }>();
  return { fingerprint, bearer: { authorization: `Bearer ${token}` } };
}

/** @returns the id of the parked call. */
async function park({ bearer }: Minted, call: object = { key: 'PAY', body: '5' }): Promise<string> {
  const answer = await here.anyone.invoke(call, bearer);
  expect(answer.status, answer.text).toBe(202);
  return answer.json<{ invocation_id: string }>().invocation_id;
}

/** Without a reason, without a body. */
const decide = (api: TestApi, id: string, verb: 'approve' | 'deny', body?: object): Promise<Answer> =>
  api.owner.send('POST', `/api/approvals/${id}/${verb}`, { body });
const confirm = async (id: string) => (await there.anyone.get(`/api/dispatch?confirm=${id}`)).json();
const read = async (id: string) => (await there.owner.get(`/api/approvals/${id}`)).json();
const usesOf = async (fingerprint: string) => {
  const { rows } = await here.context.store.pool.query(
    'select uses::int from capability_grant where fingerprint = $1',
    [fingerprint],
  );
  return rows[0]?.uses;
};
const listEvents = async (id: string) => {
  const { rows } = await here.context.store.pool.query(
    `select kind, actor, reason from event where detail ->> 'receipt' = $1 order by id`,
    [id],
  );
  return rows;
};

describe('a parked call', () => {
  it('is shown with all that the decision is bound to, and without its secrets', async () => {
    const id = await park(await mint(), { key: 'PAY', body: `5 ${CREDENTIAL}`, reason: 'rent', on_behalf_of: 'Ada' });
    expect(await confirm(id)).toMatchObject({ confirmed: false, state: 'awaiting_approval' });
    const listed = await there.owner.get('/api/approvals?state=waiting');
    const { approvals } = listed.json<{ approvals: Record<string, unknown>[] }>();
    expect(approvals.find((approval) => approval.id === id)).toMatchObject({
      state: 'waiting',
      key: 'PAY',
      effect: 'write',
      actor: expect.stringMatching(/^cap:/),
      request_redacted: true,
      input_hash: createHash('sha256').update(`5 ${CREDENTIAL}`).digest('hex'),
      contract_fingerprint: here.context.catalogue.find('PAY')?.fingerprint,
      reason: 'rent',
      on_behalf_of: 'Ada',
    });
    for (const answer of [listed, await there.owner.get(`/api/approvals/${id}`)]) {
      expect(answer.text).not.toContain(CREDENTIAL);
      expect(answer.text).not.toContain('"call"');
    }
    expect(paid).toEqual([]);
  });

  it('is its caller’s and the owner’s to see, and the owner’s alone to decide', async () => {
    const [asker, other] = [await mint(), await mint()];
    const id = await park(asker);
    const ids = async (bearer: Record<string, string>) =>
      (await there.anyone.get('/api/approvals', bearer))
        .json<{ approvals: { id: string }[] }>()
        .approvals.map((a) => a.id);
    expect(await ids(asker.bearer)).toEqual([id]);
    expect(await ids(other.bearer)).toEqual([]);
    expect((await there.anyone.get(`/api/approvals/${id}`, other.bearer)).status).toBe(404);
    for (const verb of ['approve', 'deny']) {
      const decided = (headers: Record<string, string>) =>
        there.anyone.send('POST', `/api/approvals/${id}/${verb}`, { headers });
      for (const { bearer } of [asker, other])
        expect((await decided(bearer)).json()).toMatchObject({ error: 'owner_required' });
      expect((await decided({})).status).toBe(401);
    }
    expect(await confirm(id)).toMatchObject({ state: 'awaiting_approval' });
  });

  it('fires once with what was parked, however often and wherever it is approved at the same time', async () => {
    const id = await park(await mint(), { key: 'PAY', body: '7"\n' });
    const answers = await Promise.all(
      [here, there, here, there, here, there].map((api) => decide(api, id, 'approve', { reason: 'fine' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
    expect(answers.find(({ status }) => status === 200)?.json()).toMatchObject({
      ok: true,
      result: { paid: true },
      proof: { invocation_id: id },
    });
    expect(answers.find(({ status }) => status === 409)?.json()).toMatchObject({ error: 'approval_decided' });
    expect(paid).toEqual([JSON.stringify({ sum: '7"\n' })]);
    expect(await confirm(id)).toMatchObject({ confirmed: true, outcome: 'succeeded' });
    expect(await read(id)).toMatchObject({ state: 'approved', decided_by: 'owner', decision_reason: 'fine' });
    const { rows } = await here.context.store.pool.query('select call from approval where id = $1', [id]);
    expect(rows).toEqual([{ call: null }]);
    expect(await listEvents(id)).toMatchObject([
      { kind: 'APPROVAL_REQUEST' },
      { kind: 'APPROVAL_APPROVED', reason: 'fine' },
    ]);
  });

  it('is not taken for lost while it runs, although it was approved a second time at the same time', async () => {
    const id = await park(await mint());
    let release = (): void => undefined;
    released = new Promise((resolve) => {
      release = resolve;
    });
    const held = await here.context.store.pool.connect();
    await held.query('begin');
    await held.query('select from approval where id = $1 for update', [id]);
    const deciding = [decide(here, id, 'approve'), decide(here, id, 'approve')];
    await vi.waitFor(async () => {
      const { rows } = await held.query(
        `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
      );
      expect(rows).toHaveLength(2);
    });
    await held.query('commit');
    held.release();
    expect(await Promise.race(deciding)).toMatchObject({ status: 409 });
    await here.context.housekeeping.sweep();
    release();
    expect((await Promise.all(deciding)).map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(await confirm(id)).toMatchObject({ outcome: 'succeeded' });
  });

  it('is approved by a request without a body', async () => {
    const id = await park(await mint());
    expect(await here.owner.send('POST', `/api/approvals/${id}/approve`)).toMatchObject({ status: 200 });
  });

  it('never fires when it is denied, also at the same time as it is approved', async () => {
    const id = await park(await mint());
    const [denied, approved] = await Promise.all([
      decide(here, id, 'deny', { reason: 'too much' }),
      decide(there, id, 'approve'),
    ]);
    expect([denied.status, approved.status].sort()).toEqual([200, 409]);
    expect(paid).toHaveLength(approved.status === 200 ? 1 : 0);
  });

  it('leaves a receipt, an event and no call when it is denied', async () => {
    const id = await park(await mint());
    expect((await decide(there, id, 'deny', { reason: 'too much' })).json()).toEqual({ id, state: 'denied' });
    expect(await confirm(id)).toMatchObject({ confirmed: true, outcome: 'denied', error: 'approval_denied' });
    expect(await listEvents(id)).toMatchObject([
      {},
      { kind: 'APPROVAL_DENIED', actor: 'owner', reason: 'too much' },
      { kind: 'DENY', reason: 'approval_denied' },
    ]);
    expect((await decide(here, id, 'approve')).json()).toMatchObject({ status: 409, error: 'approval_decided' });
    expect(paid).toEqual([]);
  });

  it('expires, with a receipt and an event, and cannot be approved from then on', async () => {
    const id = await park(await mint());
    await here.context.store.pool.query(`update approval set expires_at = now() - interval '1 second' where id = $1`, [
      id,
    ]);
    expect((await decide(here, id, 'approve')).json()).toMatchObject({ error: 'approval_decided' });
    await here.context.approvals.expire();
    expect(await confirm(id)).toMatchObject({ confirmed: true, outcome: 'denied', error: 'approval_expired' });
    expect(await listEvents(id)).toMatchObject([
      {},
      { kind: 'APPROVAL_EXPIRED', actor: 'engine' },
      { kind: 'DENY', reason: 'approval_expired' },
    ]);
    expect(await read(id)).toMatchObject({ state: 'expired' });
    expect(paid).toEqual([]);
  });

  it('waits no longer than its grant holds', async () => {
    const before = Date.now();
    const id = await park(await mint({ ttl_seconds: 120 }));
    const { expires_at } = await read(id);
    expect(Date.parse(String(expires_at))).toBeLessThanOrEqual(before + 130_000);
  });

  it('counts for the grant of the owner’s that its caller’s derives from', async () => {
    const root = await mint();
    const derived = await here.anyone.post('/api/grants/attenuate', {}, root.bearer);
    const { token, fingerprint } = derived.json<{ token: string; fingerprint: string }>();
    const ids = [await park(root), await park({ fingerprint, bearer: { 'x-share': token } })];
    const { rows } = await here.context.store.pool.query('select origin from approval where id = any($1)', [ids]);
    expect(rows).toEqual([{ origin: root.fingerprint }, { origin: root.fingerprint }]);
    expect((await here.owner.get(`/api/approvals/${ids[1]}`)).json()).not.toHaveProperty('origin');
  });

  it('ends as denied when the row changed since', async () => {
    await addRow({ ...PAY, key: 'CHANGING', target: `POST ${upstream.url}/a` });
    const id = await park(await mint({ scope: { keys: ['CHANGING'] } }), { key: 'CHANGING', body: '1' });
    const { version } = (await here.owner.get('/api/directory/CHANGING')).json<{ version: number }>();
    const changed = { ...PAY, key: 'CHANGING', target: `POST ${upstream.url}/b` };
    const put = await here.owner.send('PUT', '/api/directory/CHANGING', {
      body: changed,
      headers: { 'if-match': `"${version}"` },
    });
    expect(put.status, put.text).toBeLessThan(300);
    await vi.waitFor(() => expect(there.context.catalogue.find('CHANGING')?.row.version).toBe(version + 1));
    const answer = await decide(there, id, 'approve');
    expect(answer.json()).toMatchObject({
      status: 409,
      error: expect.stringMatching(/^contract_changed:/),
      receipt: id,
    });
    expect(await confirm(id)).toMatchObject({ outcome: 'denied', error: expect.stringMatching(/^contract_changed:/) });
    expect(paid).toEqual([]);
  });

  it('ends as denied when its grant was revoked since', async () => {
    const grant = await mint();
    const id = await park(grant);
    expect((await here.owner.post(`/api/grants/${grant.fingerprint}/revoke`, {})).status).toBe(200);
    const answer = await decide(there, id, 'approve');
    expect(answer.json()).toMatchObject({ status: 403, error: 'revoked' });
    expect(await confirm(id)).toMatchObject({ outcome: 'denied', error: 'revoked' });
    expect(await read(id)).toMatchObject({ state: 'denied' });
    expect(paid).toEqual([]);
  });

  it('takes its use when it is approved, not when it is parked', async () => {
    const grant = await mint({ max_uses: 1 });
    const [first, second] = [await park(grant), await park(grant)];
    expect(await usesOf(grant.fingerprint)).toBe(0);
    expect((await decide(here, first, 'approve')).status).toBe(200);
    expect(await usesOf(grant.fingerprint)).toBe(1);
    expect((await decide(here, second, 'approve')).json()).toMatchObject({ status: 429, error: 'token_exhausted' });
    expect(await confirm(second)).toMatchObject({ outcome: 'denied', error: 'token_exhausted' });
    expect(paid).toHaveLength(1);
  });

  it('goes on waiting when it could only not run now', async () => {
    const grant = await mint({ rate_per_minute: 1 });
    const [first, second] = [await park(grant), await park(grant)];
    expect((await decide(here, first, 'approve')).status).toBe(200);
    expect((await decide(here, second, 'approve')).json()).toMatchObject({ status: 429, error: 'rate_limited' });
    expect(await confirm(second)).toMatchObject({ state: 'awaiting_approval' });
    await here.context.store.pool.query(
      `update capability_grant set window_at = now() - interval '2 minutes' where fingerprint = $1`,
      [grant.fingerprint],
    );
    expect((await decide(there, second, 'approve')).status).toBe(200);
    expect(paid).toHaveLength(2);
  });

  it('of a grant with a fixed body shows that body, and fires with it', async () => {
    const id = await park(await mint({ fixed_body: '42' }), { key: 'PAY' });
    expect(await read(id)).toMatchObject({
      request: { body: '42' },
      input_hash: createHash('sha256').update('42').digest('hex'),
    });
    expect((await decide(there, id, 'approve')).status).toBe(200);
    expect(paid).toEqual(['{"sum":"42"}']);
  });

  it('is refused in vain when nobody could run it', async () => {
    const { bearer } = await mint({ effects: ['read'] });
    expect((await here.anyone.invoke({ key: 'PAY', body: '1' }, bearer)).json()).toMatchObject({
      error: 'effect_not_granted',
    });
  });

  it('that was refused because the database answered too late never fires', async () => {
    const id = await park(await mint());
    const { store } = here.context;
    // As the process that lost the answer writes it.
    await store.pool.query(
      `insert into receipt select r.* from (select call from approval where id = $1) a,
       json_populate_record(null::receipt, json_build_object('id', $1::text, 'trace', a.call::json ->> 'trace',
         'key', 'PAY', 'actor', 'cap:x', 'started_at', now(), 'finished_at', now(), 'outcome', 'denied',
         'status', 'PROVEN_ATTEMPT_NO_MATERIAL_RESULT', 'material', false, 'input_hash', repeat('0', 64),
         'error', 'ledger_unavailable', 'tokens_in', 0, 'tokens_out', 0, 'tokens_cached', 0, 'cost_usd', 0)) r`,
      [id],
    );
    expect((await decide(here, id, 'approve')).json()).toMatchObject({ error: 'approval_decided' });
    await here.context.approvals.expire();
    expect(await read(id)).toMatchObject({ state: 'expired' });
    expect(paid).toEqual([]);
  });
});
