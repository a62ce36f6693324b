import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askAs, findAsk, flushAsks, type ListedAsk } from '../../testing/asks.js';
import { mintGrant } from '../../testing/grants.js';
import { OWNER_KEY, startTestApi, type TestApi } from '../../testing/test-api.js';

const ASKED = { keys: [], best: null, confidence: 0, category: null, actor: 'owner' };
const SECRET_KEY = 'key/of all tokens';
const SECRET = 'correct-horse-battery-staple';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ credentials: { UPSTREAM_KEY: SECRET }, config: { secretKey: SECRET_KEY } });
});
afterAll(() => api.close());

const list = async (query = '') =>
  (await api.owner.get(`/api/asks${query}`)).json<{ asks: ListedAsk[]; next_cursor: string | null }>();
const measure = async (query = '') =>
  (await api.owner.get(`/api/asks/quality${query}`)).json<Record<string, unknown>>();

describe('GET /api/asks', () => {
  it('shows the questions that found nothing, page by page', async () => {
    const questions = ['xyzzy plugh', 'frobnicate quux', 'zxcvb qwert'];
    for (const question of questions) await askAs(api.owner, question);
    await askAs(api.owner, 'what time is it');
    await flushAsks(api);
    const first = await list('?answered=false&limit=2');
    expect(first.asks).toMatchObject([
      { question: 'zxcvb qwert', best: null, keys: [], actor: 'owner' },
      { question: 'frobnicate quux' },
    ]);
    const second = await list(`?answered=false&limit=2&cursor=${first.next_cursor}`);
    expect(second).toMatchObject({ asks: [{ question: 'xyzzy plugh' }], next_cursor: null });
    expect((await list('?answered=true')).asks).toMatchObject([{ question: 'what time is it', best: 'NOW' }]);
    expect((await list('?to=2026-01-01T00:00:00Z')).asks).toEqual([]);
  });

  it('shows no secret that a question held, nor the head of one that was cut', async () => {
    await api.owner.post('/api/directory', {
      key: 'GUARDED',
      type: 'http',
      target: 'GET http://127.0.0.1:9/x',
      auth: 'bearer:UPSTREAM_KEY',
      content: '# WHAT: Fetches what is guarded.\n# EX: [GUARDED][/GUARDED]',
    });
    await api.owner.invoke({ key: 'GUARDED', body: '' });
    const token = ['sh', 'Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4'].join('.');
    const held = await askAs(
      api.owner,
      `is ${SECRET} or ${token} or ${OWNER_KEY}, ${encodeURIComponent(SECRET_KEY)} or "password": "hunter2" valid`,
    );
    const cut = await askAs(api.owner, `${'x'.repeat(489)} ${SECRET}`);
    const strange = api.context.asks.record({ ...ASKED, question: 'a\u0000b \ud83e and 🦜' });
    await flushAsks(api);
    const valid = 'is [redacted] or [redacted] or [redacted], [redacted] or "password": "[redacted]" valid';
    expect(await findAsk(api, held.id)).toMatchObject({ question: valid });
    expect(await findAsk(api, cut.id)).toMatchObject({ question: `${'x'.repeat(489)} [redacted]` });
    expect(await findAsk(api, strange)).toMatchObject({ question: 'a\uFFFDb \uFFFD and 🦜' });
    const { rows } = await api.context.store.pool.query<{ text: string }>('select ask::text as text from ask');
    expect(rows.length).toBeGreaterThan(3);
    for (const { text } of rows) expect(text).not.toMatch(/correct-horse|hunter2|Zm9vYmFy/);
  });

  it('is for the owner and for read grants, as what is measured is', async () => {
    const reader = await mintGrant(api, { scope: 'read' });
    const caller = await mintGrant(api, { scope: 'act' });
    await askAs(caller.holder, 'what time is it');
    for (const url of ['/api/asks', '/api/asks/quality']) {
      const read = await reader.holder.get(url);
      expect(read).toMatchObject({ status: 200, headers: { 'cache-control': 'no-store' } });
      expect((await caller.holder.get(url)).json()).toMatchObject({ status: 403, error: 'scope_mismatch' });
      expect(await api.anyone.get(url)).toMatchObject({ status: 401 });
    }
  });

  it.each([
    '?answered=perhaps',
    '?limit=0',
    '?limit=201',
    '?cursor=abc',
    '?from=yesterday',
    '?from=2026-02-01T00:00:00Z&to=2026-01-01T00:00:00Z',
    '?actor=owner',
    '/quality?from=2026-01-01T00:00:00Z&to=2026-01-01T00:00:00Z',
    '/quality?from=2025-01-01T00:00:00Z',
    '/quality?from=2026-01-01T00:00:00Z&to=2026-04-04T00:00:00Z',
    '/quality?limit=5',
  ])('refuses %s', async (query) => {
    expect((await api.owner.get(`/api/asks${query}`)).json()).toMatchObject({
      status: 400,
      error: 'unrecognized_request',
    });
  });
});

describe('GET /api/asks/quality', () => {
  it('measures the last 30 days, or the period that is given', async () => {
    const { holder } = await mintGrant(api, { scope: { keys: ['NOW'] } });
    await flushAsks(api);
    const before = await measure();
    const { id } = await askAs(holder, 'the time, please');
    await flushAsks(api);
    await holder.invoke({ key: 'NOW', body: '', ask_id: id });
    const after = await measure();
    expect(after).toMatchObject({
      asks: Number(before.asks) + 1,
      invoked: Number(before.invoked) + 1,
      named: Number(before.named) + 1,
      ranks: { 1: expect.any(Number) },
      by_category: expect.arrayContaining([expect.objectContaining({ category: 'time' })]),
      by_day: [{ day: new Date().toISOString().slice(0, 10) }],
      dropped: 0,
    });
    const { from, to } = after.period as { from: string; to: string };
    expect(Date.parse(to) - Date.parse(from)).toBe(30 * 86_400_000);
    expect(await measure('?from=2026-01-01T00:00:00Z&to=2026-04-03T00:00:00Z')).toMatchObject({
      period: { from: '2026-01-01T00:00:00.000Z', to: '2026-04-03T00:00:00.000Z' },
      asks: 0,
      mrr: null,
    });
  });
});
