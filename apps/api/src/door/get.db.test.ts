import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../testing/test-api.js';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const ACTIONS = ['ask', 'key', 'map', 'registry', 'schema', 'confirm', 'receipt', 'explain', 'invoke'];

describe('GET /api/dispatch', () => {
  it('without an action explains the four steps, the errors and what is there', async () => {
    const answer = await api.anyone.get('/api/dispatch');
    expect(answer.status).toBe(200);
    expect(answer.json()).toMatchObject({
      steps: {
        ask: 'GET http://127.0.0.1:8787/api/dispatch?ask=what+time+is+it',
        read: 'GET http://127.0.0.1:8787/api/dispatch?key=NOW',
        invoke: 'POST http://127.0.0.1:8787/api/dispatch {"key":"NOW","body":""}',
      },
      actions: ACTIONS,
      errors: { unknown_key: { status: 404, fix: expect.any(String) } },
      counts: { rows: 47, enabled: 47, registry: 47, projected: 47 },
      categories: expect.arrayContaining([{ category: 'time', rows: 2 }]),
    });
  });

  it('explains itself in Markdown as well', async () => {
    const answer = await api.anyone.get('/api/dispatch', { accept: 'text/markdown' });
    expect(answer.headers['content-type']).toBe('text/markdown; charset=utf-8');
    expect(answer.text).toMatch(/^# Rowcall\n/);
    expect(answer.text).toContain('- time: 2');
  });

  it.each([
    ['an unknown parameter', 'q=time', 'q'],
    ['an unknown parameter beside an action', 'ask=time&k=5', 'k'],
    ['arguments of no call', 'explain=1&body=a', 'body'],
    ['what a link cannot say', 'invoke=NOW&shape=true', 'shape'],
    ['two actions', 'ask=time&key=NOW', 'ask and key'],
    ['a parameter of another action', 'key=NOW&limit=5', 'limit'],
    ['an action twice', 'key=NOW&key=ECHO', '/key'],
    ['an empty action', 'ask=', '/ask'],
    ['a format that is none', 'key=NOW&format=xml', '/format'],
    ['a format that does not go with the action', 'ask=time&format=markdown', 'format'],
    ['a skill of nothing', 'format=skill', 'format=skill'],
    ['a page that is too long', 'registry=1&limit=501', '/limit'],
    ['a page of nothing', 'registry=1&limit=0', '/limit'],
    ['a cursor that no page gave', 'registry=1&cursor=abc', 'cursor'],
    ['registry=0', 'registry=0', '/registry'],
    ['an inherited name', '__proto__=1', '__proto__'],
    ['an inherited method', 'constructor=1', 'constructor'],
  ])('refuses %s, names it and says which actions there are', async (_what, query, named) => {
    const answer = await api.anyone.get(`/api/dispatch?${query}`);
    expect(answer.status).toBe(400);
    const problem = answer.json<{ error: string; detail: string; fix: string }>();
    expect(problem.error).toBe('unrecognized_request');
    expect(problem.detail).toContain(named);
    if (!named.includes('cursor')) expect(ACTIONS.filter((action) => !problem.fix.includes(action))).toEqual([]);
  });

  it('gives the JSON Schema of an invocation', async () => {
    const answer = await api.anyone.get('/api/dispatch?schema=invocation');
    expect(answer.json()).toMatchObject({
      type: 'object',
      anyOf: [{ required: ['key'] }, { required: ['replay'] }],
      properties: { key: {}, body: {}, args: {}, share: {}, replay: {}, repairs: {}, confirm: {} },
      additionalProperties: false,
      not: { required: ['body', 'args'] },
    });
  });

  it.each(['confirm', 'receipt'])('%s= of an id that is none is an unknown receipt', async (action) => {
    for (const id of ['inv_1', `inv_${'0'.repeat(32)}`, "'; select 1; --", '%00']) {
      expect((await api.owner.get(`/api/dispatch?${action}=${id}`)).json()).toMatchObject({ error: 'unknown_receipt' });
    }
  });
});

describe('a document', () => {
  // The answer to a question has an id of its own each time.
  it.each(['', '?key=NOW', '?map=1', '?registry=1'])('(%s) is not sent again to who has it', async (query) => {
    const url = `/api/dispatch${query}`;
    const { etag } = (await api.anyone.get(url)).headers;
    const again = await api.anyone.get(url, { 'if-none-match': `"other", W/${etag}` });
    expect(again).toMatchObject({ status: 304, text: '', headers: { etag, 'cache-control': 'no-cache' } });
    expect((await api.anyone.get(url, { 'if-none-match': '"other"' })).status).toBe(200);
  });

  it('has another tag in another form', async () => {
    const json = await api.anyone.get('/api/dispatch?key=NOW');
    const markdown = await api.anyone.get('/api/dispatch?key=NOW', { accept: 'text/markdown' });
    expect(markdown.headers.etag).not.toBe(json.headers.etag);
    expect(String(json.headers.vary)).toContain('accept');
  });

  it('has another tag when its row changed', async () => {
    const before = (await api.anyone.get('/api/dispatch?key=UPPER')).headers.etag;
    await api.owner.send('PATCH', '/api/directory/UPPER', { body: { planner_rank: 5 } });
    const after = await api.anyone.get('/api/dispatch?key=UPPER', { 'if-none-match': String(before) });
    expect(after.status).toBe(200);
  });

  it('can be asked for by HEAD', async () => {
    const answer = await api.anyone.send('HEAD', '/api/dispatch?key=NOW');
    expect(answer).toMatchObject({ status: 200, text: '' });
    expect(answer.headers.etag).toBe((await api.anyone.get('/api/dispatch?key=NOW')).headers.etag);
  });
});

describe('a question', () => {
  it('is answered with at most twelve rows, each by a key that can be read', async () => {
    const answer = await api.anyone.get('/api/dispatch?ask=facts+about+a+country+weather+repository+text+name');
    const { matches } = answer.json<{ matches: { key: string }[] }>();
    expect(matches.length).toBeGreaterThan(3);
    expect(matches.length).toBeLessThanOrEqual(12);
    for (const { key } of matches) expect((await api.anyone.get(`/api/dispatch?key=${key}`)).status).toBe(200);
  });

  it('that no row answers has no best, and says what to do', async () => {
    const answer = await api.anyone.get('/api/dispatch?ask=qwertyuiop+zxcvbnm');
    expect(answer.json()).toMatchObject({ best: null, confidence: 0, message: expect.stringContaining('?map=1') });
  });

  it('that names a key finds its row', async () => {
    const answer = await api.anyone.get('/api/dispatch?ask=use+EXCHANGE_RATE+please');
    expect(answer.json()).toMatchObject({ best: { key: 'EXCHANGE_RATE' } });
  });
});
