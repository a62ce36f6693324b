import { type Loss, loseAnswer, startUpstream, type TestUpstream } from '@rowcall/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Answer } from './testing/client.js';
import { startTestApi, type TestApi } from './testing/test-api.js';

const PAY = { type: 'http', category: 'test', content: '# WHAT: Pays.\n{"sum": "$1"}', examples: ['1'] };

let api: TestApi;
let upstream: TestUpstream;
let paid = 0;
let grant: { fingerprint: string; bearer: Record<string, string> };
let keys = 0;

beforeAll(async () => {
  upstream = await startUpstream((request, response) => {
    request.resume();
    paid += 1;
    response.writeHead(200, { 'content-type': 'application/json' }).end(`{"paid":${paid}}`);
  });
  api = await startTestApi();
  const row = { ...PAY, key: 'PAY', target: `POST ${upstream.url}/pay` };
  expect(await api.owner.post('/api/directory', row)).toMatchObject({ status: 201 });
  const minted = await api.owner.post('/api/grants', {
    scope: { keys: ['PAY'] },
    effects: ['write'],
    risk_ceiling: 'high',
    owner_gate: true,
    ttl_seconds: 600,
    max_uses: 0,
    purpose: 'test',
  });
  const { token, fingerprint } = minted.json<{ token: string; fingerprint: string }>();
  grant = { fingerprint, bearer: { authorization: `Bearer ${token}` } };
});
beforeEach(() => {
  paid = 0;
  keys += 1;
});
afterAll(async () => {
  await api.close();
  await upstream.close();
});

const query = async (text: string, ...values: unknown[]) => (await api.context.store.pool.query(text, values)).rows;
const pay = (more: object = {}): Promise<Answer> =>
  api.owner.invoke({ key: 'PAY', body: '1', ...more }, { 'idempotency-key': `key-${keys}` });
const park = () => api.anyone.invoke({ key: 'PAY', body: '1' }, grant.bearer);
const confirm = async (id: unknown) => (await api.anyone.get(`/api/dispatch?confirm=${id}`)).json();
const receiptOf = (refused: Answer) => refused.json<{ receipt: string }>().receipt;
const idOf = (parked: Answer) => parked.json<{ invocation_id: string }>().invocation_id;
const listOpened = () => query('select id from opened');
/** Waits for what a process finds that it has lost. */
const untilSwept = (what: () => Promise<void>) => vi.waitFor(what, { timeout: 12_000, interval: 50 });

describe('when the database is lost as a call begins', () => {
  it.each<Loss>(['unsent', 'lost', 'late'])('nothing is run, and the key is free again (%s)', async (loss) => {
    const lost = loseAnswer('begin_calls', loss);
    const refused = await pay();
    expect(refused.json()).toMatchObject({ status: 503, error: 'ledger_unavailable' });
    expect(paid).toBe(0);
    expect(await confirm(receiptOf(refused))).toMatchObject({ confirmed: true, outcome: 'denied' });
    if (loss === 'late') {
      await lost.letThrough();
      expect(await listOpened()).toEqual([{ id: receiptOf(refused) }]);
    }
    await untilSwept(async () => expect(await listOpened()).toEqual([]));
    expect((await pay()).json()).toMatchObject({ ok: true, result: { paid: 1 } });
    expect((await pay()).json()).toMatchObject({ result: { paid: 1 } });
    expect(await confirm(receiptOf(refused))).toMatchObject({ outcome: 'denied', error: 'ledger_unavailable' });
  });
});

describe('when the database is lost as a call is queued', () => {
  it.each<Loss>(['unsent', 'late'])(
    'the call is refused and never queued, and the key is free again (%s)',
    async (loss) => {
      const lost = loseAnswer('insert into job', loss);
      const refused = await pay({ mode: 'async' });
      expect(refused.json()).toMatchObject({ status: 503, error: 'ledger_unavailable' });
      if (loss === 'late') await lost.letThrough();
      const id = receiptOf(refused);
      expect(await confirm(id)).toMatchObject({ confirmed: true, outcome: 'denied' });
      expect(await listOpened()).toEqual([]);
      if (loss === 'late') expect(await query('select id from job where id = $1', id)).toEqual([]);
      expect((await pay({ mode: 'async' })).status).toBe(202);
    },
  );

  it('the call goes on where it was queued, and its key is its own', async () => {
    loseAnswer('insert into job', 'lost');
    const refused = await pay({ mode: 'async' });
    expect(refused.json()).toMatchObject({ status: 503, error: 'ledger_unavailable' });
    expect(await confirm(receiptOf(refused))).toMatchObject({ confirmed: false, state: 'queued' });
    expect(await listOpened()).toEqual([]);
    expect(await query('select invocation_id from idempotency order by created_at desc limit 1')).toEqual([
      { invocation_id: receiptOf(refused) },
    ]);
  });
});

describe('when the database is lost as a call ends', () => {
  it.each<Loss>(['unsent', 'lost'])('it has fired once, and is answered once it is written (%s)', async (loss) => {
    loseAnswer('with closed', loss);
    expect((await pay()).json()).toMatchObject({ ok: true, result: { paid: 1 } });
    expect(await listOpened()).toEqual([]);
    expect(paid).toBe(1);
  });

  it.each<Loss>(['unsent', 'lost'])('and its answer may not be kept, it is not fired again (%s)', async (loss) => {
    loseAnswer('update idempotency', loss);
    expect((await pay()).json()).toMatchObject({
      status: 503,
      error: 'ledger_unavailable',
      receipt: expect.any(String),
    });
    const [second, third] = [await pay(), await pay()];
    expect(second.json()).toMatchObject({ ok: true, result: { paid: 1 } });
    expect(third.text).toBe(second.text);
    expect(paid).toBe(1);
  });

  it('a receipt that the database refuses leaves no call that runs for ever', async () => {
    await query(`create function refuse() returns trigger language plpgsql as $$ begin
      if new.reason = 'poison' then raise exception 'no' using errcode = '22000'; end if; return new; end $$`);
    await query('create trigger refuse before insert on receipt for each row execute function refuse()');
    const answer = await pay({ reason: 'poison' });
    expect(answer.json()).toMatchObject({ status: 503, error: 'ledger_unavailable' });
    expect(paid).toBe(1);
    await query('drop trigger refuse on receipt');
    await untilSwept(async () =>
      expect(await confirm(receiptOf(answer))).toMatchObject({ confirmed: true, outcome: 'interrupted' }),
    );
    expect(paid).toBe(1);
  });
});

describe('when the database is lost as a call is parked', () => {
  it.each<Loss>(['unsent', 'lost'])('it never fires (%s)', async (loss) => {
    const statement = loss === 'unsent' ? 'insert into approval' : 'commit';
    loseAnswer(statement, loss);
    const refused = await park();
    expect(refused.json()).toMatchObject({ status: 503, error: 'ledger_unavailable' });
    const id = receiptOf(refused);
    expect((await api.owner.post(`/api/approvals/${id}/approve`, {})).status).toBe(loss === 'unsent' ? 404 : 409);
    expect(await confirm(id)).toMatchObject({ outcome: 'denied', error: 'ledger_unavailable' });
    expect(paid).toBe(0);
  });
});

describe('when the database is lost as a call is approved', () => {
  it('it still waits where the decision was not written, and can be approved then', async () => {
    const id = idOf(await park());
    loseAnswer('begin_calls', 'unsent');
    const refused = await api.owner.post(`/api/approvals/${id}/approve`, {});
    expect(refused.json()).toMatchObject({ status: 503, error: 'ledger_unavailable', receipt: id });
    expect(await confirm(id)).toMatchObject({ state: 'awaiting_approval' });
    expect((await api.owner.post(`/api/approvals/${id}/approve`, {})).json()).toMatchObject({ ok: true });
    expect(paid).toBe(1);
  });

  it('it is interrupted where the decision was written, and never fires', async () => {
    const id = idOf(await park());
    loseAnswer('commit', 'lost');
    const refused = await api.owner.post(`/api/approvals/${id}/approve`, {});
    expect(refused.json()).toMatchObject({ status: 503, error: 'ledger_unavailable', receipt: id });
    await untilSwept(async () => expect(await confirm(id)).toMatchObject({ confirmed: true, outcome: 'interrupted' }));
    expect((await api.owner.post(`/api/approvals/${id}/approve`, {})).json()).toMatchObject({
      error: 'approval_decided',
    });
    expect(paid).toBe(0);
  });
});
