import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { startUpstream, type TestUpstream } from '@rowcall/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Answer } from '../testing/client.js';
import { mintGrant } from '../testing/grants.js';
import { startTestApi, type TestApi } from '../testing/test-api.js';

const WHAT = { category: 'test', examples: ['a'], type: 'http' };

let here: TestApi;
let there: TestApi;
let upstream: TestUpstream;
/** Bodies that the upstream got. */
let paid: string[] = [];
/** When given, the upstream answers nothing before it resolves. */
let held: Promise<void> | undefined;

async function answerUpstream(request: IncomingMessage, response: ServerResponse): Promise<void> {
  paid.push(await text(request));
  await held;
  const status = request.url === '/broken' ? 500 : 200;
  response.writeHead(status, { 'content-type': 'application/json' }).end(`{"receipt":${paid.length}}`);
}

beforeAll(async () => {
  upstream = await startUpstream((request, response) => void answerUpstream(request, response));
  here = await startTestApi();
  there = await startTestApi({ databaseUrl: here.databaseUrl });
  const rows = [
    { ...WHAT, key: 'PAY', target: `POST ${upstream.url}/pay`, content: '# WHAT: Pays.\n{"sum": "$1"}' },
    { ...WHAT, key: 'PAY_BROKEN', target: `POST ${upstream.url}/broken`, content: '# WHAT: Pays.\n{"sum": "$1"}' },
    { ...WHAT, key: 'LOOK', target: `GET ${upstream.url}/look`, content: '# WHAT: Looks.' },
  ];
  for (const row of rows) expect((await here.owner.post('/api/directory', row)).status).toBe(201);
  await vi.waitFor(() => expect(there.context.catalogue.find('LOOK')).toBeDefined());
});
beforeEach(() => {
  paid = [];
  held = undefined;
});
afterAll(async () => {
  await there.close();
  await here.close();
  await upstream.close();
});

const under = (key: string) => ({ 'idempotency-key': key });
const pay = (api: TestApi, key: string, body: object = { key: 'PAY', body: key }): Promise<Answer> =>
  api.owner.invoke(body, under(key));
const whole = ({ status, text: body, headers }: Answer) =>
  JSON.stringify([status, headers['content-type'], headers.location, body]);
const mint = async (grant: object): Promise<Record<string, string>> => {
  const answer = await here.owner.post('/api/grants', { ttl_seconds: 3_600, max_uses: 0, purpose: 'test', ...grant });
  expect(answer.status, answer.text).toBe(201);
  return { authorization: `Bearer ${answer.json<{ token: string }>().token}` };
};
const PAYER = { scope: { keys: ['PAY'] }, effects: ['write'], risk_ceiling: 'high' };

describe('a request that comes more than once with one Idempotency-Key', () => {
  it('fires once for each of 100 keys, whichever of two processes gets the 1,000 requests', async () => {
    const keys = Array.from({ length: 1_000 }, (_, index) => `load-${index % 100}`);
    keys.sort(() => Math.random() - 0.5);
    const answers = new Map<string, Set<string>>();
    await Promise.all(
      keys.map(async (key, index) => {
        const answer = whole(await pay(index % 2 === 0 ? here : there, key));
        answers.set(key, (answers.get(key) ?? new Set()).add(answer));
      }),
    );
    expect(paid).toHaveLength(100);
    expect(new Set(paid).size).toBe(100);
    expect([...answers.values()].filter((distinct) => distinct.size !== 1)).toEqual([]);
    expect(
      [...answers.values()].every(([answer]) => answer?.startsWith('[200,"application/json; charset=utf-8"')),
    ).toBe(true);
  });

  it('waits for the first where that is under way', async () => {
    let letGo = () => {};
    held = new Promise((resolve) => (letGo = resolve));
    const first = pay(here, 'slow');
    await vi.waitFor(() => expect(paid).toHaveLength(1));
    const second = pay(there, 'slow');
    letGo();
    expect(whole(await second)).toBe(whole(await first));
    expect(paid).toHaveLength(1);
  });

  it('gets no answer for another audience, nor once its grant has ended', async () => {
    const bearer = await mint({ ...PAYER, audience: 'desk' });
    const send = (audience: object) =>
      here.anyone.invoke({ key: 'PAY', body: 'a' }, { ...bearer, ...under('bound'), ...audience });
    expect(await send({ 'x-audience': 'desk' })).toMatchObject({ status: 200 });
    expect((await send({})).json()).toMatchObject({ error: 'idempotency_mismatch' });
    const [grant] = (await here.owner.get('/api/grants?limit=1')).json<{ grants: { fingerprint: string }[] }>().grants;
    expect(await here.owner.post(`/api/grants/${grant?.fingerprint}/revoke`, {})).toMatchObject({ status: 200 });
    expect((await send({ 'x-audience': 'desk' })).json()).toMatchObject({ error: 'revoked' });
    expect(paid).toHaveLength(1);
  });

  it('gets a failed run as it was', async () => {
    const answers = [
      await pay(here, 'broken', { key: 'PAY_BROKEN' }),
      await pay(there, 'broken', { key: 'PAY_BROKEN' }),
    ];
    expect(answers[0]?.json()).toMatchObject({ ok: false, ran: true, error: { code: 'upstream_500' } });
    expect(new Set(answers.map(whole)).size).toBe(1);
    expect(paid).toHaveLength(1);
  });

  it('gets the 202 of a queued call, whatever came of it since', async () => {
    const ask = { key: 'PAY', body: 'q', mode: 'async' };
    const [first, second] = [await pay(here, 'queued', ask), await pay(there, 'queued', ask)];
    expect(first.status).toBe(202);
    expect(whole(second)).toBe(whole(first));
    const { rows } = await here.context.store.pool.query('select count(*)::int as jobs from job');
    expect(rows).toEqual([{ jobs: 1 }]);
    const { rows: opened } = await here.context.store.pool.query('select id from opened');
    expect(opened).toEqual([]);
  });

  it('gets the 202 of a parked call, before and after it is decided', async () => {
    const bearer = await mint({ ...PAYER, owner_gate: true });
    const ask = () => there.anyone.invoke({ key: 'PAY', body: 'p' }, { ...bearer, ...under('parked') });
    const first = await ask();
    expect(first.json()).toMatchObject({ state: 'approval_required' });
    expect(whole(await ask())).toBe(whole(first));
    const id = first.json<{ invocation_id: string }>().invocation_id;
    expect((await here.owner.post(`/api/approvals/${id}/approve`, {})).status).toBe(200);
    expect(whole(await ask())).toBe(whole(first));
    expect(paid).toHaveLength(1);
  });

  it('gets no answer of a grant that was revoked since', async () => {
    const grant = await mintGrant(here, PAYER);
    const ask = () => grant.holder.invoke({ key: 'PAY', body: 'r' }, under('revoked'));
    expect((await ask()).status).toBe(200);
    expect((await here.owner.post(`/api/grants/${grant.fingerprint}/revoke`, {})).status).toBe(200);
    expect((await ask()).json()).toMatchObject({
      status: 403,
      error: 'revoked',
      receipt: expect.stringMatching(/^inv_/),
    });
    expect(paid).toHaveLength(1);
  });

  it('takes one use of a grant, and is answered when all are used up', async () => {
    const bearer = await mint({ ...PAYER, max_uses: 1 });
    const ask = (key: string) => here.anyone.invoke({ key: 'PAY', body: 'u' }, { ...bearer, ...under(key) });
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask('use')));
    expect(new Set([...answers, await ask('use')].map(whole)).size).toBe(1);
    expect(answers[0]?.status).toBe(200);
    expect((await ask('another')).json()).toMatchObject({ status: 429, error: 'token_exhausted' });
    expect(paid).toHaveLength(1);
  });

  it('is another one where another caller makes it', async () => {
    const bearer = await mint(PAYER);
    const ask = { key: 'PAY', body: 'shared' };
    const answers = [await pay(here, 'shared', ask), await here.anyone.invoke(ask, { ...bearer, ...under('shared') })];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(paid).toHaveLength(2);
  });

  it('is refused when it asks for something else, and the refusal names the first', async () => {
    const first = await pay(here, 'mismatch');
    for (const body of [
      { key: 'PAY', body: 'other' },
      { key: 'PAY', args: {} },
      { key: 'PAY', body: 'mismatch', mode: 'async' },
      { key: 'PAY', body: 'mismatch', reason: 'r' },
    ]) {
      const answer = await pay(there, 'mismatch', body);
      expect(answer.status).toBe(409);
      expect(answer.json()).toMatchObject({
        error: 'idempotency_mismatch',
        receipt: first.json<{ proof: { invocation_id: string } }>().proof.invocation_id,
      });
    }
    expect(paid).toHaveLength(1);
  });

  it('may have its members in another order, and its key quoted', async () => {
    const first = await pay(here, 'order', { key: 'PAY', body: 'order' });
    const second = await here.owner.invoke({ body: 'order', key: 'PAY' }, under('"order"'));
    expect(whole(second)).toBe(whole(first));
  });
});

describe('an Idempotency-Key', () => {
  it.each(['', 'two words', '"open', 'x'.repeat(256), 'é', '"a"b"'])('that is %j is refused', async (key) => {
    const answer = await here.owner.invoke({ key: 'PAY', body: '' }, under(key));
    expect(answer.json()).toMatchObject({ status: 400, error: 'unrecognized_request' });
    expect(paid).toEqual([]);
  });

  it('means nothing to a shape', async () => {
    const shape = { key: 'PAY', body: 'shape', shape: true };
    expect((await pay(here, 'shape', shape)).json()).toMatchObject({ state: 'shaped' });
    expect((await pay(here, 'shape', { key: 'PAY', body: 'shape' })).json()).toMatchObject({ ran: true });
    expect((await here.owner.invoke(shape, under('not a key'))).status).toBe(200);
  });

  it.each([
    ['an unknown key', { key: 'PYA' }, 'unknown_key'],
    ['arguments that do not fit', { key: 'PAY', args: { unheard_of: 1 } }, 'invalid_args'],
    ['a contract that changed', { key: 'PAY', expect_contract: '0'.repeat(64) }, /^contract_changed:/],
  ])('is not used up by a refusal of %s', async (_what, body, error) => {
    const key = `refused ${String(error)}`.replaceAll(/[^a-z_]/g, '');
    const answer = await pay(here, key, body);
    expect(answer.json<{ error: string }>().error).toMatch(error);
    expect((await pay(there, key, { key: 'PAY', body: key })).json()).toMatchObject({ ok: true });
    expect(paid).toHaveLength(1);
  });

  it('is not used up by a call that found too many others waiting for a person', async () => {
    const bearer = await mint({ ...PAYER, owner_gate: true });
    const ask = (key: string) => here.anyone.invoke({ key: 'PAY', body: 'w' }, { ...bearer, ...under(key) });
    const parked = await Promise.all(Array.from({ length: 100 }, (_, index) => ask(`waiting-${index}`)));
    expect(parked.every(({ status }) => status === 202)).toBe(true);
    expect((await ask('one-more')).json()).toMatchObject({ status: 429, error: 'rate_limited' });
    const id = parked[0]?.json<{ invocation_id: string }>().invocation_id;
    expect((await here.owner.post(`/api/approvals/${id}/deny`, {})).status).toBe(200);
    expect((await ask('one-more')).status).toBe(202);
  });

  it('of a call that nothing answered is answered from its receipt, the same by every process', async () => {
    const first = await pay(here, 'lost');
    await here.context.store.pool.query('update idempotency set answer = null where invocation_id = $1', [
      first.json<{ proof: { invocation_id: string } }>().proof.invocation_id,
    ]);
    const answers = await Promise.all([pay(here, 'lost'), pay(there, 'lost')]);
    expect(new Set(answers.map(whole)).size).toBe(1);
    expect(answers[0]?.text).toBe(first.text);
    expect(paid).toHaveLength(1);
  });

  it('and the answer to it are nowhere in plain', async () => {
    const key = 'a-key-that-nobody-else-knows';
    const answer = await pay(here, key, { key: 'PAY', body: 'plain' });
    const { rows } = await here.context.store.pool.query<{ text: string; answer: Buffer }>(
      `select i::text as text, answer from idempotency i where invocation_id = $1`,
      [answer.json<{ proof: { invocation_id: string } }>().proof.invocation_id],
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]?.text).not.toContain(key);
    expect(rows[0]?.answer.includes('receipt')).toBe(false);
    expect(rows[0]?.answer.length).toBeGreaterThan(Buffer.byteLength(answer.text));
  });
});
