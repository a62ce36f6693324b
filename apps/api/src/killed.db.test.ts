import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { silentLog } from '@rowcall/protocol';
import { openStore, type Store } from '@rowcall/store';
import { startUpstream, type TestUpstream } from '@rowcall/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Killable, startKillableApi, startKillableRunner } from './testing/child-process.js';
import { OWNER_KEY, startTestApi, type TestApi } from './testing/test-api.js';

const PAY = { type: 'http', category: 'test', content: '# WHAT: Pays.\n{"sum": "$1"}', examples: ['1'] };

let alive: TestApi;
let store: Store;
let upstream: TestUpstream;
let paid = 0;
/** Answers that the upstream keeps back, while it does. */
let waiting: ServerResponse[] | undefined;
const children: Killable[] = [];

beforeAll(async () => {
  upstream = await startUpstream((request, response) => {
    request.resume();
    paid += 1;
    if (waiting === undefined) answer(response);
    else waiting.push(response);
  });
  alive = await startTestApi();
  store = openStore({ url: alive.databaseUrl, name: 'observer', log: silentLog });
  const row = { ...PAY, key: 'PAY', target: `POST ${upstream.url}/pay` };
  expect(await alive.owner.post('/api/directory', row)).toMatchObject({ status: 201 });
});
beforeEach(() => {
  paid = 0;
  waiting = undefined;
});
afterEach(async () => {
  for (const child of children.splice(0)) await child.kill();
});
afterAll(async () => {
  await store.close();
  await alive.close();
  await upstream.close();
});

const answer = (response: ServerResponse) =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end(`{"paid":${paid}}`);

async function startApi(mode: 'hold' | 'run'): Promise<Killable> {
  const api = await startKillableApi(alive.databaseUrl, mode);
  children.push(api);
  return api;
}

const send = (api: Killable, path: string, body: object, headers: Record<string, string> = {}) =>
  fetch(`${api.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${OWNER_KEY}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
/** Sends a request whose answer the process does not live to give. */
const sendInVain = (...request: Parameters<typeof send>): void => void send(...request).catch(() => undefined);

/** Waits for the one call that is open. */
const untilOpened = () =>
  vi.waitFor(
    async () => {
      const { rows } = await store.pool.query<{ id: string }>('select id from opened');
      if (rows.length !== 1) throw new Error(`${rows.length} calls are open`);
      return rows[0]?.id ?? '';
    },
    { timeout: 10_000, interval: 10 },
  );
const confirm = async (id: string) => (await alive.anyone.get(`/api/dispatch?confirm=${id}`)).json();
const untilEnded = (id: string) =>
  vi.waitFor(
    async () => {
      const { rows } = await store.pool.query('select outcome, error, lane from receipt where id = $1', [id]);
      if (rows[0] === undefined) throw new Error(`${id} has not ended`);
      return rows[0];
    },
    { timeout: 20_000, interval: 50 },
  );
/** Time passes for the heart of a process that was killed, and for those who judge it. */
async function passTime(killed: Killable): Promise<void> {
  await store.pool.query(
    `update process set heartbeat_at = case when pid = $1 then now() - interval '1 minute' else now() end,
       beating_since = now() - interval '1 minute'`,
    [killed.pid],
  );
}
async function kill(child: Killable): Promise<void> {
  await child.kill();
  await passTime(child);
}

describe('an API process that is killed', () => {
  it('after a call was opened and before it fired: the call is interrupted, never fired, and replayed by hand alone', async () => {
    const api = await startApi('hold');
    sendInVain(api, '/api/dispatch', { key: 'PAY', body: '1' });
    const id = await untilOpened();
    expect(await confirm(id)).toMatchObject({ confirmed: false, state: 'running' });
    await kill(api);
    expect(await untilEnded(id)).toEqual({ outcome: 'interrupted', error: 'interrupted', lane: 'inline' });
    expect(await confirm(id)).toMatchObject({
      confirmed: true,
      state: 'finished',
      outcome: 'interrupted',
      material: false,
    });
    expect(paid).toBe(0);
    expect((await alive.owner.invoke({ replay: id })).json()).toMatchObject({ status: 409, error: 'confirm_required' });
    expect(paid).toBe(0);
    const replayed = await alive.owner.invoke({ replay: id, confirm: true });
    expect(replayed.json()).toMatchObject({
      ok: true,
      replay: { of: id, verdict: 'different', outcomes: { before: 'interrupted', after: 'succeeded' } },
    });
    expect(paid).toBe(1);
  });

  it('after the upstream was reached and before the receipt: the call is interrupted, and not fired again', async () => {
    waiting = [];
    const api = await startApi('run');
    sendInVain(api, '/api/dispatch', { key: 'PAY', body: '2' }, { 'idempotency-key': 'killed' });
    const id = await untilOpened();
    await vi.waitFor(() => expect(paid).toBe(1), 5_000);
    await kill(api);
    expect(await untilEnded(id)).toMatchObject({ outcome: 'interrupted' });
    const repeated = await alive.owner.invoke({ key: 'PAY', body: '2' }, { 'idempotency-key': 'killed' });
    expect(repeated.json()).toMatchObject({ ok: false, error: { code: 'interrupted' }, proof: { invocation_id: id } });
    const again = await alive.owner.invoke({ key: 'PAY', body: '2' }, { 'idempotency-key': 'killed' });
    expect(again.text).toBe(repeated.text);
    expect(paid).toBe(1);
  });

  it('between an approval and the firing: the call is interrupted, and cannot be approved again', async () => {
    const minted = await alive.owner.post('/api/grants', {
      scope: { keys: ['PAY'] },
      effects: ['write'],
      risk_ceiling: 'high',
      owner_gate: true,
      ttl_seconds: 600,
      max_uses: 1,
      purpose: 'test',
    });
    const { token, fingerprint } = minted.json<{ token: string; fingerprint: string }>();
    const parked = await alive.anyone.invoke({ key: 'PAY', body: '3' }, { authorization: `Bearer ${token}` });
    const id = parked.json<{ invocation_id: string }>().invocation_id;
    const api = await startApi('hold');
    sendInVain(api, `/api/approvals/${id}/approve`, {});
    expect(await untilOpened()).toBe(id);
    expect(await confirm(id)).toMatchObject({ state: 'running' });
    await kill(api);
    expect(await untilEnded(id)).toMatchObject({ outcome: 'interrupted' });
    const again = await alive.owner.post(`/api/approvals/${id}/approve`, {});
    expect(again.json()).toMatchObject({ status: 409, error: 'approval_decided' });
    const { rows } = await store.pool.query('select uses::int from capability_grant where fingerprint = $1', [
      fingerprint,
    ]);
    expect(rows).toEqual([{ uses: 1 }]);
    expect(paid).toBe(0);
  });

  it('and started again amid repeated requests: no key fires twice, and all answers of a key are the same', async () => {
    let api = await startApi('run');
    const keys = Array.from({ length: 400 }, (_, index) => `storm-${index % 40}`).sort(() => Math.random() - 0.5);
    const answers = new Map<string, Set<string>>();
    let done = 0;
    const ask = async (key: string): Promise<void> => {
      for (;;) {
        const given = await send(api, '/api/dispatch', { key: 'PAY', body: key }, { 'idempotency-key': key }).catch(
          () => undefined,
        );
        const text = await given?.text().catch(() => undefined);
        if (given !== undefined && text !== undefined && given.status === 200) {
          answers.set(key, (answers.get(key) ?? new Set()).add(text));
          done += 1;
          return;
        }
        await sleep(20);
      }
    };
    const asked = Promise.all(keys.map((key) => ask(key)));
    await vi.waitFor(() => expect(paid).toBeGreaterThan(5), 10_000);
    const killed = api;
    await killed.kill();
    api = await startApi('run');
    await passTime(killed);
    await asked;
    expect(done).toBe(400);
    expect(paid).toBeLessThanOrEqual(40);
    expect([...answers.values()].map((distinct) => distinct.size)).toEqual(Array.from({ length: 40 }, () => 1));
    const { rows } = await store.pool.query(
      `select count(*)::int as count, count(distinct invocation_id)::int as calls from idempotency
       where invocation_id in (select id from receipt where key = 'PAY' and input_hash in
         (select encode(sha256(('storm-' || n)::bytea), 'hex') from generate_series(0, 39) n))`,
    );
    expect(rows).toEqual([{ count: 40, calls: 40 }]);
  });
});

describe('when no API process lives', () => {
  it('a runner ends what the killed one had opened', async () => {
    const lonely = await startTestApi();
    const observer = openStore({ url: lonely.databaseUrl, name: 'observer', log: silentLog });
    const row = { ...PAY, key: 'PAY', target: `POST ${upstream.url}/pay` };
    expect(await lonely.owner.post('/api/directory', row)).toMatchObject({ status: 201 });
    const api = await startKillableApi(lonely.databaseUrl, 'hold');
    const runner = await startKillableRunner(lonely.databaseUrl);
    children.push(api, runner);
    sendInVain(api, '/api/dispatch', { key: 'PAY', body: '1' });
    await vi.waitFor(async () => {
      const { rows } = await observer.pool.query('select id from opened');
      expect(rows).toHaveLength(1);
    }, 10_000);
    await lonely.context.drain(0);
    await api.kill();
    await observer.pool.query(
      `update process set heartbeat_at = case when pid = $1 then now() - interval '1 minute' else now() end,
         beating_since = now() - interval '1 minute'`,
      [api.pid],
    );
    await vi.waitFor(
      async () => {
        const { rows } = await observer.pool.query(`select outcome from receipt where key = 'PAY'`);
        expect(rows).toEqual([{ outcome: 'interrupted' }]);
      },
      { timeout: 20_000, interval: 50 },
    );
    expect(paid).toBe(0);
    await runner.kill();
    await observer.close();
    await lonely.close();
  });
});
