import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Log } from '@rowcall/protocol';
import { startUpstream, type TestUpstream } from '@rowcall/testing';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { BuildEngineOptions } from '../build-engine.js';
import { startTestEngine, type TestEngine } from '../testing/engine.js';
import { sendJson, startTokenServer, type TokenServer } from '../testing/token-server.js';

const CLIENT_SECRET = 'client-secret-0123456789';
const FIRST_REFRESH = 'refresh-0-aaaaaaaaaaaaaaaa';

let provider: TokenServer;
let api: TestUpstream & { requests: { authorization: string | undefined; method: string; body: string }[] };
let env: Record<string, string>;
let logged: string[];
let engine: TestEngine;
let engines: TestEngine[];
/** Milliseconds that the clock of the engines is ahead. */
let aheadMs: number;

/** An upstream that answers 401 unless the token is a good one, and echoes what it was sent. */
async function startApi(): Promise<typeof api> {
  const requests: (typeof api)['requests'] = [];
  const answer = async (request: IncomingMessage) => {
    const { method = '', headers } = request;
    const arrived = { method, authorization: headers.authorization, body: await text(request) };
    requests.push(arrived);
    return { status: provider.good.has(arrived.authorization?.slice('Bearer '.length) ?? '') ? 200 : 401, arrived };
  };
  const upstream = await startUpstream((request, response) => {
    void answer(request).then(({ status, arrived }) =>
      sendJson({ echo: arrived }, status)(response, { ...arrived, headers: {}, form: {} }),
    );
  });
  return { ...upstream, requests };
}

const toLog = (lines: string[]): Log => {
  const write = (facts: object, message: string) => {
    const { err } = facts as { err?: Error };
    lines.push(JSON.stringify([message, facts, err?.message, err?.stack, String(err?.cause)]));
  };
  return { debug: write, info: write, warn: write, error: write };
};

async function startEngine(options: Partial<BuildEngineOptions> = {}): Promise<TestEngine> {
  const [first] = engines;
  const started = await startTestEngine(
    {
      readCredential: (name) => env[name],
      secretKey: 'the secret key of the server',
      log: toLog(logged),
      now: () => Date.now() + aheadMs,
      ...options,
    },
    first?.database,
  );
  engines.push(started);
  return started;
}

const insertRow = (row: Parameters<TestEngine['insert']>[0]) =>
  engine.insert({ type: 'http', target: `GET ${api.url}/things`, auth: 'oauth:crm', ...row });

/** Runs a row, and gives what matters here of the finished call. */
async function run(one: TestEngine, key: string, body = '') {
  const { receipt, resultText, upstreamText, error } = await one.run(key, { input: { body } });
  const { id, outcome } = receipt;
  return { id, outcome, error, result: JSON.parse(resultText), upstream: JSON.parse(upstreamText ?? 'null') };
}

const query = async (statement: string) => (await engine.database.store.pool.query(statement)).rows;

beforeEach(async () => {
  provider = await startTokenServer();
  api = await startApi();
  engines = [];
  aheadMs = 0;
  logged = [];
  env = { CRM_TOKEN_URL: `${provider.url}/token`, CRM_CLIENT_ID: 'the-client', CRM_CLIENT_SECRET: CLIENT_SECRET };
  engine = await startEngine();
  await insertRow({ key: 'THINGS' });
  await insertRow({
    key: 'ADD',
    target: `POST ${api.url}/things`,
    effect: 'write',
    content: '# WHAT: Adds.\n{"name": "$1"}',
  });
});

afterEach(async () => {
  for (const started of engines.reverse()) await started.stop();
  await Promise.all([provider.close(), api.close()]);
});

const useRefreshToken = () => {
  env.CRM_REFRESH_TOKEN = FIRST_REFRESH;
};

/** Starts another process on the same database, which knows the rows. */
async function startOther(options: Partial<BuildEngineOptions> = {}): Promise<TestEngine> {
  return await startEngine(options);
}

describe('client credentials', () => {
  test('get one token for many calls, by Basic with form-encoded parts', async () => {
    Object.assign(env, {
      CRM_CLIENT_ID: 'the client:1',
      CRM_CLIENT_SECRET: 's3cret+/ x',
      CRM_SCOPE: 'a b',
      CRM_AUDIENCE: 'https://api',
    });
    const calls = await Promise.all([run(engine, 'THINGS'), run(engine, 'THINGS'), run(engine, 'ADD')]);
    expect(calls.map(({ outcome }) => outcome)).toEqual(['succeeded', 'succeeded', 'succeeded']);
    expect(provider.requests).toHaveLength(1);
    const [{ authorization, form, headers } = { authorization: '', form: {}, headers: {} }] = provider.requests;
    expect(Buffer.from(authorization?.slice('Basic '.length) ?? '', 'base64').toString()).toBe(
      'the+client%3A1:s3cret%2B%2F+x',
    );
    expect(form).toEqual({ grant_type: 'client_credentials', scope: 'a b', audience: 'https://api' });
    expect(headers).toMatchObject({ accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' });
    expect(new Set(api.requests.map((request) => request.authorization))).toEqual(
      new Set([`Bearer ${[...provider.good][0]}`]),
    );
  });

  test('go into the body where the settings say so', async () => {
    env.CRM_TOKEN_AUTH = 'body';
    await run(engine, 'THINGS');
    expect(provider.requests).toMatchObject([
      { authorization: undefined, form: { client_id: 'the-client', client_secret: CLIENT_SECRET } },
    ]);
  });

  test('need no query while the token in memory is good', async () => {
    await run(engine, 'THINGS');
    await query('alter table oauth_token rename to hidden');
    expect((await run(engine, 'THINGS')).outcome).toBe('succeeded');
    expect(provider.requests).toHaveLength(1);
  });

  test('that are changed never use a token that was got with others; a new secret does', async () => {
    await run(engine, 'THINGS');
    env.CRM_CLIENT_SECRET = 'another-secret-987654';
    await run(engine, 'THINGS');
    expect(provider.requests).toHaveLength(1);
    env.CRM_SCOPE = 'more';
    await run(engine, 'THINGS');
    expect(provider.requests).toHaveLength(2);
    expect(api.requests[1]?.authorization).not.toBe(api.requests[2]?.authorization);
  });

  test('work without ROWCALL_SECRET_KEY, in memory alone', async () => {
    const other = await startOther({ secretKey: undefined });
    expect((await run(other, 'THINGS')).outcome).toBe('succeeded');
    expect((await run(other, 'THINGS')).outcome).toBe('succeeded');
    expect(provider.requests).toHaveLength(1);
    expect(await query('select * from oauth_token')).toEqual([]);
  });
});

describe('a refresh token', () => {
  beforeEach(useRefreshToken);

  test('is replaced by the one that the provider gives, in every process, and survives them', async () => {
    provider.answer = provider.issue({ refresh_token: 'refresh-1-bbbbbbbbbbbbbbbb', expires_in: 0 });
    await run(engine, 'THINGS');
    provider.answer = provider.issue({ refresh_token: 'refresh-2-cccccccccccccccc', expires_in: 0 });
    await run(engine, 'THINGS');
    provider.answer = provider.issue();
    const other = await startOther();
    await run(other, 'THINGS');
    await run(engine, 'THINGS');
    expect(provider.requests.map(({ form }) => form)).toEqual([
      { grant_type: 'refresh_token', refresh_token: FIRST_REFRESH },
      { grant_type: 'refresh_token', refresh_token: 'refresh-1-bbbbbbbbbbbbbbbb' },
      { grant_type: 'refresh_token', refresh_token: 'refresh-2-cccccccccccccccc' },
    ]);
  });

  test('stays when the provider gives no other', async () => {
    provider.answer = provider.issue({ expires_in: 0 });
    await run(engine, 'THINGS');
    await run(engine, 'THINGS');
    expect(provider.requests.map(({ form }) => form.refresh_token)).toEqual([FIRST_REFRESH, FIRST_REFRESH]);
  });

  test('of a public client goes with the name of the client', async () => {
    delete env.CRM_CLIENT_SECRET;
    await run(engine, 'THINGS');
    expect(provider.requests).toMatchObject([
      { authorization: undefined, form: { client_id: 'the-client', refresh_token: FIRST_REFRESH } },
    ]);
  });

  test('that could not be stored is not lost to the process that got it', async () => {
    provider.answer = async (...args) => {
      await query('alter table oauth_token rename to hidden');
      provider.issue({ refresh_token: 'refresh-1-bbbbbbbbbbbbbbbb', expires_in: 0 })(...args);
    };
    expect((await run(engine, 'THINGS')).outcome).toBe('succeeded');
    expect(logged.join('\n')).toContain('could not be stored');
    await query('alter table hidden rename to oauth_token');
    provider.answer = provider.issue();
    await run(engine, 'THINGS');
    expect(provider.requests.at(-1)?.form.refresh_token).toBe('refresh-1-bbbbbbbbbbbbbbbb');
    expect(await query('select generation from oauth_token')).toEqual([{ generation: '1' }]);
  });

  test('is refused without a key to keep it with', async () => {
    const other = await startOther({ secretKey: undefined });
    expect(await other.refuse('THINGS')).toMatchObject({ reason: 'credential_missing:ROWCALL_SECRET_KEY' });
    expect(provider.requests).toEqual([]);
  });
});

describe('many processes', () => {
  beforeEach(useRefreshToken);

  test('ask once when they need a token at the same time', async () => {
    const other = await startOther();
    provider.answer = (...args) => void setTimeout(() => provider.issue()(...args), 300);
    const calls = [engine, other].flatMap((one) => Array.from({ length: 8 }, () => run(one, 'THINGS')));
    expect(new Set((await Promise.all(calls)).map(({ outcome }) => outcome))).toEqual(new Set(['succeeded']));
    expect(provider.requests).toHaveLength(1);
  });

  test('ask once when the upstream refuses the token of all of them', async () => {
    const other = await startOther();
    await run(engine, 'THINGS');
    await run(other, 'THINGS');
    provider.good.clear();
    const calls = await Promise.all([engine, other, engine, other].map((one) => run(one, 'ADD')));
    expect(calls.map(({ outcome }) => outcome)).toEqual(['succeeded', 'succeeded', 'succeeded', 'succeeded']);
    expect(provider.requests).toHaveLength(2);
  });

  test('wait for the lease of one that died, and no longer', async () => {
    provider.answer = provider.issue({ expires_in: 0 });
    await run(engine, 'THINGS');
    await query(`update oauth_token set lease_owner = 'dead', lease_until = clock_timestamp() + interval '700 ms'`);
    const call = run(engine, 'THINGS');
    expect((await call).outcome).toBe('succeeded');
    expect(provider.requests).toHaveLength(2);
    const [row] = await query('select lease_owner, generation from oauth_token');
    expect(row).toEqual({ lease_owner: null, generation: '2' });
  });

  test('leave the token of another alone that was stored while they asked', async () => {
    const other = await startOther();
    provider.answer = async (...args) => {
      await query(`update oauth_token set lease_owner = null, lease_until = null`);
      provider.answer = provider.issue({ refresh_token: 'refresh-of-the-other' });
      await run(other, 'THINGS');
      provider.issue({ refresh_token: 'refresh-that-came-late' })(...args);
    };
    expect((await run(engine, 'THINGS')).outcome).toBe('succeeded');
    await run(engine, 'THINGS');
    expect(await query('select generation from oauth_token')).toEqual([{ generation: '1' }]);
    expect(api.requests[1]?.authorization).toBe(api.requests[0]?.authorization);
  });

  test('with another key get their own token, with a warning', async () => {
    await run(engine, 'THINGS');
    const other = await startOther({ secretKey: 'another secret key of the server' });
    expect((await run(other, 'THINGS')).outcome).toBe('succeeded');
    expect(provider.requests.map(({ form }) => form.refresh_token)).toEqual([FIRST_REFRESH, FIRST_REFRESH]);
    expect(logged.join('\n')).toContain('does not open with this ROWCALL_SECRET_KEY');
  });

  test('do not take the sealed token of another label', async () => {
    for (const name of Object.keys(env)) env[name.replace('CRM', 'MAIL')] = env[name] ?? '';
    await insertRow({ key: 'MAILS', auth: 'oauth:mail' });
    await run(engine, 'THINGS');
    await run(engine, 'MAILS');
    await query(
      `update oauth_token t set sealed = o.sealed from oauth_token o where t.label = 'CRM' and o.label = 'MAIL'`,
    );
    const other = await startOther();
    expect((await run(other, 'THINGS')).outcome).toBe('succeeded');
    expect(provider.requests).toHaveLength(3);
  });

  test('that stop while the provider answers keep what it gives', async () => {
    let release = (): void => undefined;
    provider.answer = (...args) => {
      release = () => provider.issue({ refresh_token: 'refresh-1-bbbbbbbbbbbbbbbb' })(...args);
    };
    const call = run(engine, 'THINGS');
    await provider.untilAsked(1);
    const stopped = engine.parts.drain(0);
    expect((await call).outcome).toBe('cancelled');
    release();
    await stopped;
    expect(await query('select generation, lease_owner from oauth_token')).toEqual([
      { generation: '1', lease_owner: null },
    ]);
  });
});

describe('a token', () => {
  test('that the upstream refuses is renewed once, and the same request sent again, whatever its effect', async () => {
    await run(engine, 'THINGS');
    provider.good.clear();
    const call = await run(engine, 'ADD', 'nail');
    expect(call.outcome).toBe('succeeded');
    expect(api.requests.slice(1)).toMatchObject([
      { method: 'POST', body: '{"name":"nail"}' },
      { method: 'POST', body: '{"name":"nail"}' },
    ]);
    expect(provider.requests).toHaveLength(2);
  });

  test('that is refused again leaves the answer as it is, and is not asked for at every call', async () => {
    provider.answer = sendJson({ access_token: 'never-good-0123456789', token_type: 'bearer' });
    const call = await run(engine, 'ADD', 'nail');
    expect(call).toMatchObject({ outcome: 'failed', error: { reason: 'upstream_401' } });
    expect(call.result).toMatchObject({ echo: { method: 'POST' } });
    const asked = provider.requests.length;
    expect(asked).toBe(2);
    await run(engine, 'THINGS');
    expect(provider.requests).toHaveLength(asked);
  });

  test('that the upstream refuses is renewed again when the clock was set back', async () => {
    await run(engine, 'THINGS');
    provider.good.clear();
    expect((await run(engine, 'THINGS')).outcome).toBe('succeeded');
    aheadMs = -3_600_000;
    provider.good.clear();
    expect((await run(engine, 'THINGS')).outcome).toBe('succeeded');
  });

  test('that cannot be renewed leaves the answer, which says why', async () => {
    await run(engine, 'THINGS');
    provider.good.clear();
    provider.answer = sendJson({ error: 'invalid_client' }, 401);
    expect(await run(engine, 'ADD')).toMatchObject({
      error: { reason: 'upstream_401', message: expect.stringContaining('invalid_client') },
    });
    expect(api.requests).toHaveLength(2);
  });

  test('is renewed at its end', async () => {
    provider.answer = provider.issue({ expires_in: '0' });
    await run(engine, 'THINGS');
    await run(engine, 'THINGS');
    expect(provider.requests).toHaveLength(2);
  });

  test('is renewed ahead of its end, while calls go on with the old one', async () => {
    await run(engine, 'THINGS');
    aheadMs = 3_570_000;
    await run(engine, 'THINGS');
    await provider.untilAsked(2);
    await vi.waitFor(async () =>
      expect(await query('select generation from oauth_token')).toEqual([{ generation: '2' }]),
    );
    await run(engine, 'THINGS');
    expect(provider.requests).toHaveLength(2);
    const [first, second, third] = api.requests.map((request) => request.authorization);
    expect(second).toBe(first);
    expect(third).not.toBe(first);
  });

  test('without an end is kept until it is refused', async () => {
    provider.answer = provider.issue({ expires_in: undefined });
    await run(engine, 'THINGS');
    aheadMs = 30 * 86_400_000;
    expect((await run(engine, 'THINGS')).outcome).toBe('succeeded');
    expect(provider.requests).toHaveLength(1);
    expect(await query('select expires_at from oauth_token')).toEqual([{ expires_at: null }]);
  });
});

describe('a provider that gives no token', () => {
  const secretEcho = encodeURIComponent(CLIENT_SECRET);
  const html = '<html>the raw body</html>';
  const nestedLists: TokenServer['answer'] = (response) =>
    void response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(`{"access_token":${'['.repeat(30_000)}${']'.repeat(30_000)}}`);

  test.each<[string, TokenServer['answer'], RegExp]>([
    [
      'an error',
      sendJson({ error: 'invalid_client', error_description: 'the raw body' }, 401),
      /: invalid_client \(check CRM_CLIENT_ID/,
    ],
    ['an error with 200', sendJson({ error: 'bad_verification_code' }), /: bad_verification_code$/],
    ['the secret as an error', sendJson({ error: CLIENT_SECRET }, 400), /: \[redacted\]$/],
    ['an error that is no code', sendJson({ error: `no: ${secretEcho} the raw body` }, 400), /answered 400$/],
    [
      'HTML',
      (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end(html),
      /not JSON with an access_token$/,
    ],
    ['a failure', (response) => void response.writeHead(500).end(html), /answered 500$/],
    ['too much', sendJson({ access_token: 'a'.repeat(70_000), token_type: 'bearer' }), /larger than 65536 bytes$/],
    ['another type', sendJson({ access_token: 'abcdefgh', token_type: 'mac' }), /not of the type Bearer$/],
    [
      'a type that is no text',
      sendJson({ access_token: 'abcdefgh', token_type: { toString: 1 } }),
      /not of the type Bearer$/,
    ],
    ['nested lists', nestedLists, /not JSON with an access_token$/],
    [
      'a line break',
      sendJson({ access_token: 'abcd\r\nx: 1', token_type: 'bearer' }),
      /not JSON with an access_token$/,
    ],
    ['a redirect', (response) => void response.writeHead(307, { location: '/elsewhere' }).end(), /is not sent on$/],
    ['a redirect away', (response) => void response.writeHead(303, { location: api.url }).end(), /is not sent on$/],
    ['no end', (response) => void response.socket?.destroy(), /no answer from/],
  ])('but %s fails the run in one clear way, and the row is not called', async (_, answer, message) => {
    provider.answer = answer;
    const call = await run(engine, 'ADD');
    expect(call).toMatchObject({ outcome: 'failed', error: { reason: 'oauth_failed' }, upstream: null });
    expect(call.error?.message).toMatch(message);
    expect(JSON.stringify(call)).not.toContain('the raw body');
    expect(JSON.stringify(call)).not.toContain(CLIENT_SECRET);
    expect(api.requests).toEqual([]);
    expect(provider.requests).toHaveLength(1);
    expect(await query('select lease_owner from oauth_token')).toEqual([{ lease_owner: null }]);
  });

  test('is not asked again at once after it said no, unless the settings changed', async () => {
    provider.answer = sendJson({ error: 'invalid_client' }, 401);
    await run(engine, 'THINGS');
    expect(await run(engine, 'THINGS')).toMatchObject({ error: { reason: 'oauth_failed' } });
    expect(provider.requests).toHaveLength(1);
    provider.answer = provider.issue();
    env.CRM_CLIENT_SECRET = 'the-right-secret-1234';
    expect((await run(engine, 'THINGS')).outcome).toBe('succeeded');
  });

  test('is asked again when the clock was set back', async () => {
    provider.answer = sendJson({ error: 'invalid_scope' }, 400);
    expect((await run(engine, 'THINGS')).error?.reason).toBe('oauth_failed');
    aheadMs = -3_600_000;
    provider.answer = provider.issue();
    expect((await run(engine, 'THINGS')).outcome).toBe('succeeded');
  });

  test('in time ends the call as timed out, while the request for the token goes on', async () => {
    await insertRow({ key: 'HASTY', limits: { timeout_ms: 200 } });
    let release = (): void => undefined;
    provider.answer = (...args) => {
      release = () => provider.issue()(...args);
    };
    expect(await run(engine, 'HASTY')).toMatchObject({ outcome: 'timed_out', error: { reason: 'upstream_timeout' } });
    release();
    expect((await run(engine, 'THINGS')).outcome).toBe('succeeded');
    expect(provider.requests).toHaveLength(1);
  });

  test.each([
    ['http://169.254.169.254/token', /link-local|metadata|public address/],
    ['http://10.1.2.3/token', /public address/],
  ])('at %s is refused before it is dialled', async (url, message) => {
    env.CRM_TOKEN_URL = url;
    const call = await run(engine, 'THINGS');
    expect(call.error).toMatchObject({ reason: 'oauth_failed', message: expect.stringMatching(message) });
  });
});

describe('settings', () => {
  test.each([
    ['CRM_TOKEN_URL', undefined],
    ['CRM_CLIENT_ID', ''],
    ['CRM_CLIENT_SECRET', undefined],
    ['CRM_TOKEN_URL', 'ftp://login'],
    ['CRM_TOKEN_URL', 'https://user:pass@login/'],
    ['CRM_TOKEN_URL', 'https://login/#part'],
    ['CRM_TOKEN_AUTH', 'digest'],
    ['CRM_CLIENT_SECRET', 'two\nlines'],
  ])('%s %j stops the call before anything is sent', async (name, value) => {
    if (value === undefined) delete env[name];
    else env[name] = value;
    expect(await engine.refuse('THINGS')).toMatchObject({ reason: `credential_missing:${name}` });
    expect([...provider.requests, ...api.requests]).toEqual([]);
  });

  test('that are missing are listed by a shape, which asks for no token', async () => {
    const shape = () =>
      engine.parts.engine.dispatch(
        { key: 'THINGS', input: { body: '' }, mode: 'sync', shape: true },
        { actor: 'owner', traceparent: null, chain: [] },
      );
    expect(await shape()).toMatchObject({
      call: { missing: [], shape: { headers: expect.arrayContaining([['authorization', '[redacted]']]) } },
    });
    env = {};
    expect(await shape()).toMatchObject({
      call: { missing: ['CRM_TOKEN_URL', 'CRM_CLIENT_ID', 'CRM_CLIENT_SECRET'] },
    });
    expect([...provider.requests, ...api.requests]).toEqual([]);
  });

  test('that are no secret are not hidden', async () => {
    env.CRM_TOKEN_AUTH = 'body';
    const call = await run(engine, 'ADD', 'some body');
    expect(JSON.stringify((await engine.read(call.id)).payload)).toContain('some body');
  });
});

test('no secret is found in an answer, a receipt, a log or a table', async () => {
  useRefreshToken();
  const rotated = 'refresh-1-bbbbbbbbbbbbbbbb';
  provider.answer = provider.issue({ refresh_token: rotated, expires_in: 0 });
  const answers: unknown[] = [];
  for (const key of ['THINGS', 'ADD']) {
    const call = await run(engine, key, `say ${rotated}`);
    answers.push(call, await engine.read(call.id));
  }
  provider.answer = sendJson({ error: 'invalid_grant', error_description: rotated }, 400);
  answers.push(await run(engine, 'THINGS'));
  const tables = await query(`select table_name as name from information_schema.tables where table_schema = 'public'`);
  const dumps = await Promise.all(tables.map(({ name }) => query(`select t::text from "${name}" t`)));
  const all = JSON.stringify([answers, dumps, logged]);
  expect(all).toContain('invalid_grant');
  expect(provider.good.size).toBe(2);
  for (const secret of [CLIENT_SECRET, FIRST_REFRESH, rotated, ...provider.good]) {
    for (const form of [
      secret,
      Buffer.from(secret).toString('hex'),
      Buffer.from(secret).toString('base64').slice(0, -4),
    ]) {
      expect(all).not.toContain(form);
    }
  }
});
