import type { IncomingMessage, ServerResponse } from 'node:http';
import { startEchoUpstream, startUpstream, type TestUpstream } from '@rowcall/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toRedirectStep } from './redirect.js';
import { toOutgoingRequest } from './request.js';
import { buildHttpRunner } from './runner.js';
import type { HttpCall, HttpRunner } from './types.js';

const SECRET = 'secret-value-0123';
let echo: Awaited<ReturnType<typeof startEchoUpstream>>;
let upstream: TestUpstream;
let runner: HttpRunner;
let respond: (request: IncomingMessage, response: ServerResponse) => void;
const arrived: { method: string | undefined; url: string | undefined; headers: IncomingMessage['headers'] }[] = [];

beforeAll(async () => {
  echo = await startEchoUpstream();
  upstream = await startUpstream((request, response) => {
    arrived.push({ method: request.method, url: request.url, headers: request.headers });
    respond(request, response);
  });
  runner = buildHttpRunner({
    allowNets: [],
    allowLoopback: true,
    userAgent: 'test',
    credential: () => SECRET,
    random: () => 0,
  });
});
afterAll(async () => {
  await runner.close();
  await Promise.all([echo.close(), upstream.close()]);
});

const call = (part: Partial<HttpCall>): HttpCall => ({
  method: 'GET',
  url: `${upstream.url}/start`,
  headers: [],
  body: null,
  auth: { kind: 'bearer', env: 'KEY' },
  effect: 'read',
  limits: null,
  ...part,
});
const send = (part: Partial<HttpCall>) => runner.run(call(part), new AbortController().signal);

/** Redirects `/start`, echoes method and body of everything else. */
const redirectTo = (status: number, location: string) => {
  arrived.length = 0;
  respond = (request, response) => {
    if (request.url?.startsWith('/start')) response.writeHead(status, { location }).end('moved');
    else response.writeHead(200, { 'content-type': 'text/plain' }).end(`${request.method} ${request.url}`);
  };
};

describe('redirects', () => {
  test('to another origin carry no credential, cookie or secret header, and no query credential', async () => {
    redirectTo(302, `${echo.url}/landed?a=1&key=${SECRET}`);
    const headers = [
      ['Cookie', 'sid=1'],
      ['X-Api-Key', 'from-the-row'],
      ['X-Plain', 'stays'],
    ] as const;
    for (const auth of [
      { kind: 'bearer', env: 'KEY' },
      { kind: 'header', name: 'X-Custom', env: 'KEY' },
      { kind: 'basic', userEnv: 'USER', passwordEnv: 'KEY' },
      { kind: 'query', parameter: 'key', env: 'KEY' },
    ] as const) {
      const outcome = await send({ auth, headers });
      expect(outcome).toMatchObject({ ok: true, result: { path: '/landed' } });
      const landed = echo.requests.at(-1);
      expect(landed?.url).toBe('/landed?a=1');
      expect(landed?.headers).toMatchObject({ 'x-plain': 'stays' });
      expect(Object.keys(landed?.headers ?? {})).not.toEqual(
        expect.arrayContaining([expect.stringMatching(/^(authorization|cookie|x-api-key|x-custom)$/)]),
      );
      expect(JSON.stringify(landed)).not.toContain(SECRET);
    }
  });

  test('to another origin with the credential in the path are refused', async () => {
    redirectTo(302, `${echo.url}/landed/${SECRET.replace('s', '%73')}`);
    const before = echo.requests.length;
    const outcome = await send({});
    expect(outcome).toMatchObject({ ok: false, upstream: { status: 302 }, error: { code: 'redirect_refused' } });
    expect(JSON.stringify(outcome)).not.toContain(SECRET);
    expect(echo.requests).toHaveLength(before);
  });

  test('that come back to the first origin do not get the credential again', async () => {
    const middle = await startUpstream((_request, response) =>
      response.writeHead(302, { location: `${upstream.url}/back` }).end(),
    );
    redirectTo(302, middle.url);
    expect(await send({})).toMatchObject({ ok: true, result: 'GET /back' });
    expect(arrived.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${SECRET}`, undefined]);
    await middle.close();
  });

  test('within the second origin do not get the query credential of the first', async () => {
    const seen: (string | undefined)[] = [];
    const second = await startUpstream((request, response) => {
      seen.push(request.url);
      if (request.url === '/one') response.writeHead(302, { location: '/two' }).end();
      else response.end('landed');
    });
    redirectTo(302, `${second.url}/one`);
    expect(await send({ auth: { kind: 'query', parameter: 'key', env: 'KEY' } })).toMatchObject({ result: 'landed' });
    expect(seen).toEqual(['/one', '/two']);
    await second.close();
  });

  test('within the origin keep the credential', async () => {
    redirectTo(307, '/next?x=1');
    await send({});
    expect(arrived.at(-1)).toMatchObject({ url: '/next?x=1', headers: { authorization: `Bearer ${SECRET}` } });
    await send({ auth: { kind: 'query', parameter: 'key', env: 'KEY' } });
    expect(arrived.at(-1)?.url).toBe(`/next?x=1&key=${SECRET}`);
  });

  test.each([
    [301, 'POST', 'GET'],
    [302, 'POST', 'GET'],
    [303, 'POST', 'GET'],
    [303, 'PUT', 'GET'],
    [301, 'PUT', 'PUT'],
    [307, 'POST', 'POST'],
    [308, 'PATCH', 'PATCH'],
    [303, 'HEAD', 'HEAD'],
  ])('of status %i turn %s into %s', async (status, method, expected) => {
    redirectTo(status, '/next');
    const body = method === 'HEAD' ? null : { contentType: 'application/json', text: '{}' };
    await send({ method, effect: 'write', body });
    expect(arrived.map((request) => request.method)).toEqual([method, expected]);
    const kept = expected === method && body !== null;
    expect(arrived.at(-1)?.headers['content-type']).toBe(kept ? 'application/json' : undefined);
    expect(arrived.at(-1)?.headers['content-length']).toBe(kept ? '2' : undefined);
  });

  test('do not send a write to a second origin', async () => {
    redirectTo(307, `${echo.url}/landed`);
    const before = echo.requests.length;
    const body = { contentType: 'text/plain', text: 'pay' };
    expect(await send({ method: 'POST', effect: 'write', body })).toMatchObject({
      ok: false,
      upstream: { status: 307 },
      error: { code: 'redirect_refused' },
    });
    expect(echo.requests).toHaveLength(before);
    expect(await send({ method: 'POST', effect: 'read', body })).toMatchObject({ ok: true, result: { body: 'pay' } });
  });

  test('end after three', async () => {
    arrived.length = 0;
    respond = (_request, response) => response.writeHead(302, { location: '/again' }).end();
    expect(await send({})).toMatchObject({
      ok: false,
      upstream: { status: 302 },
      error: { code: 'too_many_redirects' },
    });
    expect(arrived).toHaveLength(4);
  });

  test.each([
    'http://10.0.0.1/',
    'http://169.254.169.254/latest/',
    '//169.254.169.254/latest/',
    'http://0xa9fea9fe/',
    'http://2852039166/',
    'http://012.0.0.1/',
    'http://[::ffff:10.0.0.1]/',
    'http://[fd00:ec2::254]/',
    'http://10.0.0.1./',
    'file:///etc/passwd',
    'gopher://127.0.0.1:70/_x',
    'http://a:b@127.0.0.1/',
    '//example.com@127.0.0.1/',
  ])('to %s are refused', async (location) => {
    redirectTo(302, location);
    expect(await send({})).toMatchObject({ ok: false, error: { code: 'address_refused' } });
  });

  test('to something that is no URL are a failure of the upstream', async () => {
    redirectTo(302, 'http://[');
    expect(await send({})).toMatchObject({ ok: false, error: { code: 'upstream_protocol' } });
  });

  test('without a location, and other statuses of 300, are an answer', async () => {
    respond = (_request, response) => response.writeHead(302).end('no location');
    expect(await send({})).toMatchObject({ ok: true, result: 'no location', upstream: { status: 302 } });
    respond = (_request, response) => response.writeHead(300, { location: '/x' }).end('choose');
    expect(await send({})).toMatchObject({ ok: true, result: 'choose', upstream: { status: 300 } });
  });

  test('with an endless body do not hold the call', async () => {
    arrived.length = 0;
    respond = (request, response) => {
      if (request.url !== '/start') return response.end('landed');
      response.writeHead(302, { location: '/next' });
      const pour = (): void => void (response.destroyed || response.write('x'.repeat(65_536), pour));
      return pour();
    };
    expect(await send({ limits: { timeout_ms: 3_000 } })).toMatchObject({ ok: true, result: 'landed' });
  });

  test('to a host that is named after the credential are refused, though a host name is lower case', () => {
    const secret = 'zq9S3cretValue-77x';
    const credential = { label: 'X', header: ['authorization', secret] as const, query: null, secrets: [secret] };
    const from = toOutgoingRequest(call({ url: 'http://a.test/' }), credential, 'test');
    const step = toRedirectStep(from, { status: 302, location: `http://${secret}.b.test/` }, 'read');
    expect(step).toMatchObject({ kind: 'refuse', failure: { code: 'redirect_refused' } });
  });

  test('from https to http are refused, from http to https followed', () => {
    const credential = { label: '', header: null, query: null, secrets: [] };
    const from = (url: string) => toOutgoingRequest(call({ url }), credential, 'test');
    expect(toRedirectStep(from('https://a.test/'), { status: 302, location: 'http://a.test/' }, 'read')).toMatchObject({
      kind: 'refuse',
      failure: { code: 'redirect_refused' },
    });
    expect(toRedirectStep(from('http://a.test/'), { status: 302, location: 'https://a.test/' }, 'read')).toMatchObject({
      kind: 'follow',
    });
  });
});
