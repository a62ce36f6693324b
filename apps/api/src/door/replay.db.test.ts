import { startUpstream, type TestUpstream } from '@rowcall/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Answer } from '../testing/client.js';
import { startTestApi, type TestApi } from '../testing/test-api.js';

const CREDENTIAL = 'the-credential-of-the-upstream';
const WHAT = { category: 'test', examples: ['a'] };

let api: TestApi;
let upstream: TestUpstream;
let hits: string[] = [];
/** What the upstream answers. */
let answer = '{"n":1}';

interface Ran {
  readonly ok: boolean;
  readonly result: unknown;
  readonly replay?: { readonly verdict: string; readonly of: string; readonly changes?: readonly object[] };
  readonly proof: { readonly invocation_id: string };
}

beforeAll(async () => {
  upstream = await startUpstream((request, response) => {
    hits.push(request.url ?? '');
    request.resume();
    response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
  });
  api = await startTestApi({ credentials: { TOKEN: CREDENTIAL } });
  const rows = [
    { ...WHAT, key: 'LOOK', type: 'http', target: `GET ${upstream.url}/look?q=$1`, content: '# WHAT: Looks.' },
    {
      ...WHAT,
      key: 'SEND',
      type: 'http',
      target: `POST ${upstream.url}/send`,
      content: '# WHAT: Sends.\n{"text": "$1"}',
    },
    {
      ...WHAT,
      key: 'SECRETLY',
      type: 'http',
      target: `GET ${upstream.url}/s`,
      auth: 'bearer:TOKEN',
      content: '# WHAT: Looks.',
    },
    { ...WHAT, key: 'MOVING', type: 'http', target: `GET ${upstream.url}/one`, content: '# WHAT: Looks.' },
  ];
  for (const row of rows) expect(await api.owner.post('/api/directory', row)).toMatchObject({ status: 201 });
});
beforeEach(() => {
  hits = [];
  answer = '{"n":1}';
});
afterAll(async () => {
  await api.close();
  await upstream.close();
});

async function run(body: object): Promise<Ran & { id: string }> {
  const answered = await api.owner.invoke(body);
  expect(answered.status, answered.text).toBe(200);
  const ran = answered.json<Ran>();
  return { ...ran, id: ran.proof.invocation_id };
}
const replay = (id: string, more: object = {}) => run({ replay: id, ...more });
const readReceipt = async (id: string) => (await api.owner.get(`/api/dispatch?receipt=${id}`)).json();
const confirm = async (id: string) => (await api.anyone.get(`/api/dispatch?confirm=${id}`)).json();
const receiptOf = (refused: Answer) => refused.json<{ receipt: string }>().receipt;
async function mint(grant: object) {
  const minted = await api.owner.post('/api/grants', { ttl_seconds: 600, max_uses: 0, purpose: 'test', ...grant });
  expect(minted.status, minted.text).toBe(201);
  const { token, fingerprint } = minted.json<{ token: string; fingerprint: string }>();
  return { fingerprint, bearer: { authorization: `Bearer ${token}` } };
}

describe('a replay', () => {
  it('fires with the recorded input, and says that the same came out', async () => {
    const first = await run({ key: 'LOOK', body: 'a' });
    const again = await replay(first.id);
    expect(hits).toEqual(['/look?q=a', '/look?q=a']);
    expect(again.replay).toEqual({
      of: first.id,
      verdict: 'same',
      outcomes: { before: 'succeeded', after: 'succeeded' },
    });
    expect(await confirm(again.id)).toMatchObject({ lineage: { replay_of: first.id } });
    expect(await readReceipt(first.id)).toMatchObject({ replayed_by: [{ invocation_id: again.id }] });
  });

  it('says what is different', async () => {
    const first = await run({ key: 'LOOK', body: 'a' });
    answer = '{"n":2,"more":[1]}';
    const { replay: verdict } = await replay(first.id);
    expect(verdict).toMatchObject({ verdict: 'different' });
    expect(verdict?.changes).toEqual(
      expect.arrayContaining([
        { op: 'replace', path: '/n', value: 2 },
        { op: 'add', path: '/more', value: [1] },
      ]),
    );
  });

  it('says what is gone from an output that became empty', async () => {
    const first = await run({ key: 'LOOK', body: 'a' });
    answer = '{}';
    expect((await replay(first.id)).replay).toMatchObject({
      verdict: 'different',
      changes: [{ op: 'remove', path: '/n' }],
    });
  });

  it('of a row that changed since proves nothing, and says so', async () => {
    const first = await run({ key: 'MOVING', body: '' });
    const row = { ...WHAT, key: 'MOVING', type: 'http', target: `GET ${upstream.url}/two`, content: '# WHAT: Looks.' };
    const { version } = (await api.owner.get('/api/directory/MOVING')).json<{ version: number }>();
    await api.owner.send('PUT', '/api/directory/MOVING', { body: row, headers: { 'if-match': `"${version}"` } });
    expect((await replay(first.id)).replay).toMatchObject({ verdict: 'definition_changed' });
    expect(hits).toEqual(['/one', '/two']);
  });

  it('of a replay fires the same call', async () => {
    const first = await run({ key: 'LOOK', body: 'b' });
    const second = await replay(first.id);
    const third = await replay(second.id);
    expect(third.replay).toMatchObject({ of: second.id, verdict: 'same' });
    expect(new Set(hits).size).toBe(1);
  });

  it('of what changes the world asks for a confirmation first, and leaves a receipt of the refusal', async () => {
    const first = await run({ key: 'SEND', body: 'a' });
    const refused = await api.owner.invoke({ replay: first.id });
    expect(refused.json()).toMatchObject({ status: 409, error: 'confirm_required' });
    expect(await confirm(receiptOf(refused))).toMatchObject({ outcome: 'denied', lineage: { replay_of: first.id } });
    expect(hits).toHaveLength(1);
    expect((await replay(first.id, { confirm: true })).replay).toMatchObject({ verdict: 'same' });
    expect(hits).toHaveLength(2);
  });

  it('of a call whose input held a secret is refused', async () => {
    const first = await run({ key: 'SECRETLY', body: CREDENTIAL });
    const refused = await api.owner.invoke({ replay: first.id });
    expect(refused.json()).toMatchObject({ status: 409, error: 'replay_redacted' });
    expect(await confirm(receiptOf(refused))).toMatchObject({ outcome: 'denied', error: 'replay_redacted' });
    expect(hits).toHaveLength(1);
  });

  it('of a call whose input is no longer kept is refused, and is not taken for one without input', async () => {
    const first = await run({ key: 'LOOK', body: 'a' });
    await api.context.store.pool.query('delete from receipt_payload where receipt_id = $1', [first.id]);
    const refused = await api.owner.invoke({ replay: first.id });
    expect(refused.json()).toMatchObject({ status: 410, error: 'payload_expired' });
    expect(hits).toHaveLength(1);
    const told = await run({ key: 'OIP_RECEIPT', body: first.id });
    expect(told.result).toMatchObject({ receipt: { id: first.id }, payload: null });
  });

  it('of another caller’s call is refused as one that nobody knows', async () => {
    const first = await run({ key: 'LOOK', body: 'a' });
    const { bearer } = await mint({ scope: { keys: ['LOOK'] }, risk_ceiling: 'high' });
    for (const id of [first.id, `inv_${'0'.repeat(32)}`, 'nonsense']) {
      const refused = await api.anyone.invoke({ replay: id }, bearer);
      expect(refused.json()).toMatchObject({ status: 404, error: 'unknown_receipt' });
    }
    expect(hits).toHaveLength(1);
  });

  it('passes the gate anew', async () => {
    const grant = await mint({ scope: { keys: ['LOOK'] }, risk_ceiling: 'high', max_uses: 2 });
    const first = await api.anyone.invoke({ key: 'LOOK', body: 'a' }, grant.bearer);
    const id = first.json<Ran>().proof.invocation_id;
    expect((await api.anyone.invoke({ replay: id }, grant.bearer)).status).toBe(200);
    expect((await api.anyone.invoke({ replay: id }, grant.bearer)).json()).toMatchObject({ error: 'token_exhausted' });
    await api.owner.post(`/api/grants/${grant.fingerprint}/revoke`, {});
    expect((await api.anyone.invoke({ replay: id }, grant.bearer)).json()).toMatchObject({ error: 'revoked' });
    expect(hits).toHaveLength(2);
  });
});

describe('a repair', () => {
  it('is linked both ways to what failed', async () => {
    const failed = await api.owner.invoke({ key: 'LOKO', body: 'a' });
    const repaired = await run({ key: 'LOOK', body: 'a', repairs: receiptOf(failed) });
    expect(await confirm(repaired.id)).toMatchObject({ lineage: { repairs: receiptOf(failed) } });
    expect(await readReceipt(receiptOf(failed))).toMatchObject({ repaired_by: [{ invocation_id: repaired.id }] });
  });

  it('is refused for what did not fail', async () => {
    const first = await run({ key: 'LOOK', body: 'a' });
    const refused = await api.owner.invoke({ key: 'LOOK', body: 'b', repairs: first.id });
    expect(refused.json()).toMatchObject({ status: 409, error: 'nothing_to_repair' });
    expect(await confirm(receiptOf(refused))).toMatchObject({ outcome: 'denied' });
    expect(hits).toHaveLength(1);
  });

  it('that changes the world asks for a confirmation', async () => {
    const failed = receiptOf(await api.owner.invoke({ key: 'SNED', body: 'a' }));
    const refused = await api.owner.invoke({ key: 'SEND', body: 'a', repairs: failed });
    expect(refused.json()).toMatchObject({ error: 'confirm_required' });
    await run({ key: 'SEND', body: 'a', repairs: failed, confirm: true });
    expect(hits).toEqual(['/send']);
  });
});

describe('the rows of the ledger', () => {
  it('OIP_REPLAY fires within its own call, in its trace', async () => {
    const first = await run({ key: 'LOOK', body: 'a' });
    const outer = await run({ key: 'OIP_REPLAY', body: first.id });
    expect(outer.result).toMatchObject({
      fired: true,
      ok: true,
      key: 'LOOK',
      result: { n: 1 },
      replay: { verdict: 'same' },
    });
    const { invocation_id: inner } = outer.result as { invocation_id: string };
    const tree = await run({ key: 'OIP_TREE', body: inner });
    expect(tree.result).toMatchObject([
      { invocation_id: outer.id, children: [{ invocation_id: inner, children: [] }] },
    ]);
  });

  it('OIP_REPLAY asks for a confirmation, by its second argument', async () => {
    const first = await run({ key: 'SEND', body: 'a' });
    expect((await api.owner.invoke({ key: 'OIP_REPLAY', body: first.id })).json()).toMatchObject({
      error: 'confirm_required',
    });
    const outer = await run({ key: 'OIP_REPLAY', body: `${first.id}|true` });
    expect(outer.result).toMatchObject({ fired: true, replay: { verdict: 'same' } });
    expect(hits).toHaveLength(2);
  });

  it('OIP_REPLAY gives its caller no more than the caller has', async () => {
    const { bearer } = await mint({
      scope: { keys: ['OIP_REPLAY', 'LOOK'] },
      effects: ['read', 'write'],
      risk_ceiling: 'high',
    });
    const own = await api.anyone.invoke({ key: 'LOOK', body: 'a' }, bearer);
    const ofOwner = await run({ key: 'LOOK', body: 'a' });
    const replayOf = (id: string) => api.anyone.invoke({ key: 'OIP_REPLAY', body: id }, bearer);
    expect((await replayOf(ofOwner.id)).json()).toMatchObject({ error: 'unknown_receipt' });
    expect((await replayOf(own.json<Ran>().proof.invocation_id)).json()).toMatchObject({ ok: true });
  });

  it('OIP_REPLAY of replays of replays ends', async () => {
    let id = (await run({ key: 'LOOK', body: 'deep' })).id;
    const seen: unknown[] = [];
    for (let depth = 0; depth < 10; depth += 1) {
      const outer = await api.owner.invoke({ key: 'OIP_REPLAY', args: { receipt: id, confirm: true } });
      seen.push(outer.status);
      if (outer.status !== 200) {
        expect(outer.json()).toMatchObject({ error: 'too_deep' });
        break;
      }
      id = outer.json<Ran>().proof.invocation_id;
    }
    expect(seen.at(-1)).toBe(409);
  });

  it('OIP_REPAIR fires the nearest read', async () => {
    const failed = receiptOf(await api.owner.invoke({ key: 'LOOKK', body: 'a' }));
    const outer = await run({ key: 'OIP_REPAIR', body: failed });
    expect(outer.result).toMatchObject({ fired: true, key: 'LOOK', ok: true });
    expect(hits).toEqual(['/look?q=a']);
    expect(await readReceipt(failed)).toMatchObject({ repaired_by: [{ invocation_id: expect.any(String) }] });
  });

  it('OIP_REPAIR proposes what changes the world, and the proposal works as it is', async () => {
    const failed = receiptOf(await api.owner.invoke({ key: 'SENDD', body: 'a' }));
    const outer = await run({ key: 'OIP_REPAIR', body: failed });
    const { send } = outer.result as { send: object };
    expect(outer.result).toEqual({ fired: false, send: { key: 'SEND', body: 'a', repairs: failed, confirm: true } });
    expect(hits).toEqual([]);
    await run(send);
    expect(hits).toEqual(['/send']);
  });

  it('OIP_REPAIR corrects nothing but a key', async () => {
    const failed = receiptOf(await api.owner.invoke({ key: 'LOOK', args: { unheard_of: 1 } }));
    expect((await api.owner.invoke({ key: 'OIP_REPAIR', body: failed })).json()).toMatchObject({
      error: 'nothing_to_repair',
    });
  });

  it('OIP_REPAIR names no row that is outside the caller’s grant', async () => {
    const { bearer } = await mint({
      scope: { keys: ['OIP_REPAIR'], prefixes: ['SEN_'] },
      effects: ['read', 'write'],
      risk_ceiling: 'high',
    });
    const failed = receiptOf(await api.anyone.invoke({ key: 'SEN_D', body: 'a' }, bearer));
    const refused = await api.anyone.invoke({ key: 'OIP_REPAIR', body: failed }, bearer);
    expect(refused.text).not.toContain('SEND');
  });
});
