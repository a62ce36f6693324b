import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OWNER_KEY, startTestApi, type TestApi } from '../testing/test-api.js';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const invoke = (headers: Record<string, string>, url = '/api/dispatch') =>
  api.anyone.post(url, { key: 'ECHO', body: 'a' }, headers);

describe('the owner', () => {
  it.each([
    ['a bearer token', { authorization: `Bearer ${OWNER_KEY}` }],
    ['a bearer token, however it is written (RFC 9110 §11.1)', { authorization: `bearer   ${OWNER_KEY} ` }],
    ['x-terminal-key', { 'x-terminal-key': OWNER_KEY }],
    [
      'x-terminal-key beside credentials that are for someone else',
      { authorization: 'Basic YTpi', 'x-terminal-key': OWNER_KEY },
    ],
  ])('is known by %s', async (_what, headers) => {
    expect(await invoke(headers)).toMatchObject({ status: 200 });
  });
});

describe('a caller without the owner key', () => {
  it.each([
    ['nothing', {}],
    ['a wrong bearer token', { authorization: 'Bearer wrong' }],
    ['a wrong x-terminal-key', { 'x-terminal-key': 'wrong' }],
    ['an empty x-terminal-key', { 'x-terminal-key': '' }],
    ['the key as another scheme', { authorization: `Basic ${OWNER_KEY}` }],
    ['the key without a scheme', { authorization: OWNER_KEY }],
    ['more than the key', { authorization: `Bearer ${OWNER_KEY} x` }],
    ['the beginning of the key', { authorization: `Bearer ${OWNER_KEY.slice(0, -1)}` }],
    ['the key in upper case', { authorization: `Bearer ${OWNER_KEY.toUpperCase()}` }],
    ['the key as a cookie', { cookie: `key=${OWNER_KEY}; authorization=${OWNER_KEY}` }],
    ['the key in a header of a proxy', { 'proxy-authorization': `Bearer ${OWNER_KEY}`, 'x-api-key': OWNER_KEY }],
  ])('that sends %s is refused before anything is read', async (_what, headers) => {
    const answer = await invoke(headers);
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toBe('Bearer realm="rowcall"');
    expect(answer.json()).toMatchObject({ status: 401, error: 'unauthorized' });
  });

  it.each(['key', 'share', 'token', 'access_token', 'authorization', 'x-terminal-key', 'owner_key'])(
    'is not let in by the key in the address, as %s',
    async (name) => {
      expect(await invoke({}, `/api/dispatch?${name}=${OWNER_KEY}`)).toMatchObject({ status: 401 });
      expect(await api.anyone.get(`/api/directory?${name}=${OWNER_KEY}`)).toMatchObject({ status: 401 });
    },
  );

  it('learns nothing of what its body would have done', async () => {
    const answers = await Promise.all([
      api.anyone.send('POST', '/api/dispatch', { body: 'no json' }),
      api.anyone.send('POST', '/api/dispatch', { body: '{}', headers: { 'content-type': 'text/plain' } }),
      api.anyone.post('/api/dispatch', { key: 'NWO' }),
      api.anyone.get('/api/directory/NWO'),
    ]);
    // A token may be in the body, so that it is read; what cannot be read has none.
    expect(answers.map(({ status }) => status)).toEqual([400, 415, 401, 401]);
  });

  it('leaves no receipt', async () => {
    const count = async () => (await api.context.store.pool.query('select count(*)::int as n from receipt')).rows[0].n;
    const before = await count();
    await invoke({});
    await invoke({ authorization: 'Bearer wrong' });
    expect(await count()).toBe(before);
  });

  it('is counted in one event per address and window', async () => {
    await api.context.refusals.flush();
    const remoteAddress = '192.0.2.7';
    for (let i = 0; i < 3; i += 1) await api.app.inject({ method: 'GET', url: '/api/directory', remoteAddress });
    await api.context.refusals.flush();
    const { rows } = await api.context.store.pool.query(
      `select kind, actor, detail from event where kind = 'UNAUTHORIZED' and detail ->> 'address' = $1`,
      [remoteAddress],
    );
    expect(rows).toEqual([{ kind: 'UNAUTHORIZED', actor: 'anonymous', detail: { address: remoteAddress, count: 3 } }]);
  });

  it('does not put the key that it tried anywhere', async () => {
    await invoke({ authorization: 'Bearer almost-the-key' });
    await api.context.refusals.flush();
    const { rows } = await api.context.store.pool.query(`select detail::text from event where kind = 'UNAUTHORIZED'`);
    expect(JSON.stringify(rows)).not.toContain('almost');
    expect(api.log.join('')).not.toContain('almost');
  });

  it('is counted with the others of its /64, and the event says why', async () => {
    await api.context.refusals.flush();
    for (const remoteAddress of ['2001:db8::1', '2001:db8::2:3', '2001:db8:0:1::1']) {
      await api.app.inject({ method: 'GET', url: '/api/directory', remoteAddress });
    }
    await api.context.refusals.flush();
    const { rows } = await api.context.store.pool.query(
      `select actor, reason, detail from event where detail ->> 'address' like '2001:db8%' order by id`,
    );
    expect(rows).toEqual([
      { actor: 'anonymous', reason: 'unauthorized', detail: { address: '2001:db8::/64', count: 2 } },
      { actor: 'anonymous', reason: 'unauthorized', detail: { address: '2001:db8:0:1::/64', count: 1 } },
    ]);
  });

  it('waits longer the more often it was refused', async () => {
    const remoteAddress = '192.0.2.8';
    const refuse = async () => {
      const start = performance.now();
      await api.app.inject({ method: 'GET', url: '/api/directory', remoteAddress });
      return performance.now() - start;
    };
    for (let i = 0; i < 7; i += 1) await refuse();
    expect(await refuse()).toBeGreaterThan(140);
    const other = await api.anyone.get('/api/directory');
    expect(other.status).toBe(401);
  });
});

describe('a caller that keeps guessing', () => {
  const remoteAddress = '192.0.2.9';
  const send = (authorization?: string, from = remoteAddress) =>
    api.app.inject({
      method: 'GET',
      url: '/api/directory',
      remoteAddress: from,
      headers: authorization === undefined ? {} : { authorization },
    });
  beforeAll(async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => send(`Bearer guess-${n}`)));
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array(20).fill(401));
  });

  it('is told at once to wait', async () => {
    const answer = await send('Bearer one-guess-more');
    expect(answer.statusCode).toBe(429);
    expect(answer.json()).toMatchObject({ error: 'rate_limited', retry_after: expect.any(Number) });
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(answer.headers['retry-after'])).toBeLessThanOrEqual(60);
  });

  it('locks out nobody who has the key, at the same address or at another', async () => {
    expect((await send(`Bearer ${OWNER_KEY}`)).statusCode).toBe(200);
    expect((await send('Bearer guess', '192.0.2.10')).statusCode).toBe(401);
  });

  it('leaves those who send no credential their 401', async () => {
    expect((await send()).statusCode).toBe(401);
  });

  it('is counted on', async () => {
    await api.context.refusals.flush();
    const { rows } = await api.context.store.pool.query(
      `select sum((detail ->> 'count')::int)::int as count from event where detail ->> 'address' = $1`,
      [remoteAddress],
    );
    expect(rows).toEqual([{ count: 22 }]);
    expect((await send('Bearer still-guessing')).statusCode).toBe(429);
  });
});

describe('two owner keys', () => {
  const NEXT = 'next-owner-key-of-the-tests';
  let rotating: TestApi;
  beforeAll(async () => {
    rotating = await startTestApi({ databaseUrl: api.databaseUrl, config: { ownerKeyNext: NEXT }, logLevel: 'trace' });
  });
  afterAll(() => rotating.close());

  it.each([
    ['the one', OWNER_KEY, 200],
    ['the next', NEXT, 200],
    ['neither', 'neither-of-the-keys', 401],
  ])('are both the owner: %s', async (_which, key, status) => {
    for (const headers of [{ authorization: `Bearer ${key}` }, { 'x-terminal-key': key }]) {
      expect(await rotating.anyone.get('/api/directory', headers)).toMatchObject({ status });
    }
  });

  it('are told of at the start, without the key', async () => {
    const { rows } = await api.context.store.pool.query(
      `select actor, reason, detail from event where kind = 'OWNER_KEY_NEXT'`,
    );
    expect(rows).toEqual([{ actor: 'system', reason: expect.stringContaining('ROWCALL_OWNER_KEY_NEXT'), detail: {} }]);
    expect(rotating.log.join('')).toContain('ROWCALL_OWNER_KEY_NEXT is set');
    expect(rotating.log.join('')).not.toContain(NEXT);
    expect(api.log.join('')).not.toContain('ROWCALL_OWNER_KEY_NEXT');
  });

  it('are one again without the next', async () => {
    expect(await api.anyone.get('/api/directory', { authorization: `Bearer ${NEXT}` })).toMatchObject({ status: 401 });
  });
});
