import { startEchoUpstream, startUpstream } from '@rowcall/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildHttpRunner } from './runner.js';
import type { HttpCall, HttpRunner, HttpRunnerOptions } from './types.js';

const ENV: Record<string, string> = {
  API_KEY: 'k3y/with+signs=&',
  LINE_KEY: 'from-a-file\n',
  USER: 'ann',
  PASS: 'p:ss wörd',
  EMPTY: '',
  TWO_LINES: 'a\r\nx-injected: 1',
};

const options: HttpRunnerOptions = {
  allowNets: [],
  allowLoopback: true,
  userAgent: 'rowcall/test',
  credential: (name) => ENV[name],
  random: () => 0,
};

let echo: Awaited<ReturnType<typeof startEchoUpstream>>;
let runner: HttpRunner;
beforeAll(async () => {
  echo = await startEchoUpstream();
  runner = buildHttpRunner(options);
});
afterAll(async () => {
  await runner.close();
  await echo.close();
});

const signal = (): AbortSignal => new AbortController().signal;
const call = (part: Partial<HttpCall>): HttpCall => ({
  method: 'GET',
  url: `${echo.url}/path?q=a%2Fb`,
  headers: [],
  body: null,
  auth: { kind: 'none' },
  effect: 'read',
  limits: null,
  ...part,
});
const send = async (part: Partial<HttpCall>) => {
  const outcome = await runner.run(call(part), signal());
  return { outcome, arrived: echo.requests.at(-1) };
};

describe('the outgoing request', () => {
  test('is made of the row alone: three headers of its own, the URL byte for byte', async () => {
    const { outcome, arrived } = await send({});
    expect(arrived).toMatchObject({ method: 'GET', url: '/path?q=a%2Fb', body: '' });
    expect(arrived?.headers).toEqual({
      host: echo.url.slice('http://'.length),
      connection: 'keep-alive',
      'user-agent': 'rowcall/test',
      accept: '*/*',
      'accept-encoding': 'gzip, deflate, br',
    });
    expect(outcome).toMatchObject({
      ok: true,
      result: { url: '/path?q=a%2Fb' },
      upstream: { status: 200, content_type: 'application/json' },
    });
    expect(outcome.upstream).not.toHaveProperty('truncated');
  });

  test('carries the body, its type and the headers of the row, repeated ones too', async () => {
    const { arrived } = await send({
      method: 'post',
      headers: [
        ['X-One', 'a'],
        ['x-one', 'b'],
        ['Accept', 'text/csv'],
        ['X-Name', 'Zoë'],
      ],
      body: { contentType: 'application/json', text: '{"ü":1}' },
    });
    expect(arrived).toMatchObject({ method: 'POST', body: '{"ü":1}' });
    expect(arrived?.headers).toMatchObject({
      'x-one': 'a, b',
      accept: 'text/csv',
      'content-type': 'application/json',
      'content-length': '8',
      'x-name': Buffer.from('Zoë').toString('latin1'),
    });
  });

  test('lets a row set the content type, save that of a multipart body', async () => {
    const headers = [['content-type', 'application/vnd.api+json']] as const;
    const json = await send({ method: 'POST', headers, body: { contentType: 'application/json', text: '{}' } });
    expect(json.arrived?.headers['content-type']).toBe('application/vnd.api+json');
    const contentType = 'multipart/form-data; boundary=b';
    const form = await send({ method: 'POST', headers, body: { contentType, text: '--b--' } });
    expect(form.arrived?.headers['content-type']).toBe(contentType);
  });

  test.each([
    ['host'],
    ['Content-Length'],
    ['transfer-encoding'],
    ['connection'],
    ['Proxy-Authorization'],
    ['a b'],
    [''],
  ])('refuses the header %j before anything is sent', async (name) => {
    const before = echo.requests.length;
    await expect(send({ headers: [[name, 'x']] })).rejects.toMatchObject({ code: 'invalid_row' });
    expect(echo.requests).toHaveLength(before);
  });

  test.each(['a\r\nx: 1', 'a\nb', 'a\0b', 'a\u007fb'])('refuses the header value %j', async (value) => {
    await expect(send({ headers: [['x-a', value]] })).rejects.toMatchObject({ code: 'bad_template_value' });
  });

  test.each(['TRACE', 'CONNECT', 'GET /x HTTP/1.1\r\nx:'])('refuses the method %j', async (method) => {
    await expect(send({ method })).rejects.toMatchObject({ code: 'invalid_row' });
  });

  test.each(['', '/path', 'http://', 'http://a b/', 'http://[::1'])('refuses %j, which is no URL', async (url) => {
    await expect(send({ url })).rejects.toMatchObject({ code: 'bad_template_value' });
  });
});

describe('credentials', () => {
  test('go out in the form that the row names', async () => {
    const bearer = await send({ auth: { kind: 'bearer', env: 'API_KEY' } });
    expect(bearer.arrived?.headers.authorization).toBe('Bearer k3y/with+signs=&');
    const file = await send({ auth: { kind: 'header', name: 'X-Key', env: 'LINE_KEY' } });
    expect(file.arrived?.headers['x-key']).toBe('from-a-file');
    const pair = await send({ auth: { kind: 'basic', userEnv: 'USER', passwordEnv: 'PASS' } });
    expect(pair.arrived?.headers.authorization).toBe(`Basic ${Buffer.from('ann:p:ss wörd').toString('base64')}`);
    const user = await send({ auth: { kind: 'basic', userEnv: 'USER', passwordEnv: null } });
    expect(user.arrived?.headers.authorization).toBe('Basic YW5uOg==');
    const query = await send({ auth: { kind: 'query', parameter: 'key', env: 'API_KEY' } });
    expect(query.arrived).toMatchObject({ query: { q: 'a/b', key: 'k3y/with+signs=&' } });
    expect(query.arrived?.url).toMatch(/^\/path\?q=a%2Fb&key=/);
  });

  test('win over a header or a parameter of the row', async () => {
    const headers = [['Authorization', 'Bearer from-the-row']] as const;
    const bearer = await send({ headers, auth: { kind: 'bearer', env: 'API_KEY' } });
    expect(bearer.arrived?.headers.authorization).toBe('Bearer k3y/with+signs=&');
    const query = await send({
      url: `${echo.url}/?key=mine&a=1`,
      auth: { kind: 'query', parameter: 'key', env: 'API_KEY' },
    });
    expect(query.arrived?.query).toEqual({ key: 'k3y/with+signs=&', a: '1' });
  });

  test.each(['ABSENT', 'EMPTY'])('stop the call with credential_missing when %s is not set', async (env) => {
    const before = echo.requests.length;
    await expect(send({ auth: { kind: 'bearer', env } })).rejects.toMatchObject({
      code: 'credential_missing',
      reason: `credential_missing:${env}`,
    });
    expect(echo.requests).toHaveLength(before);
  });

  test('that would break a header stop the call without being told', async () => {
    const failed = send({ auth: { kind: 'bearer', env: 'TWO_LINES' } });
    await expect(failed).rejects.toMatchObject({ reason: 'credential_missing:TWO_LINES' });
    await expect(failed).rejects.not.toThrow('x-injected');
  });

  test('of oauth stop the call with the first setting that is missing', async () => {
    await expect(send({ auth: { kind: 'oauth', label: 'github' } })).rejects.toMatchObject({
      reason: 'credential_missing:GITHUB_TOKEN_URL',
    });
  });

  test.each([
    { kind: 'bearer', env: 'API_KEY' },
    { kind: 'header', name: 'x-key', env: 'API_KEY' },
    { kind: 'query', parameter: 'key', env: 'API_KEY' },
    { kind: 'basic', userEnv: 'API_KEY', passwordEnv: null },
    { kind: 'basic', userEnv: 'USER', passwordEnv: 'PASS' },
  ] as const)('do not come back when the upstream echoes $kind', async (auth) => {
    const { outcome } = await send({ auth });
    const text = JSON.stringify(outcome);
    expect(text).toContain('[redacted]');
    for (const value of [
      'k3y/with+signs=&',
      encodeURIComponent('k3y/with+signs=&'),
      'p:ss wörd',
      'azN5L3dpdGgrc2lnbnM9J',
    ]) {
      expect(text).not.toContain(value);
    }
  });
});

describe('the outcome', () => {
  test.each([400, 404, 429, 500])('of status %i is a failed run that keeps the body', async (status) => {
    const upstream = await startUpstream((_request, response) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end('{"why":"because"}'),
    );
    const outcome = await runner.run(call({ url: upstream.url, effect: 'write' }), signal());
    await upstream.close();
    expect(outcome).toEqual({
      ok: false,
      result: { why: 'because' },
      upstream: { status, content_type: 'application/json' },
      error: { code: `upstream_${status}`, message: `the upstream answered ${status}` },
    });
  });

  test.each([204, 304])('of status %i is an empty text', async (status) => {
    const upstream = await startUpstream((_request, response) =>
      response.writeHead(status, { 'content-encoding': 'gzip' }).end(),
    );
    expect(await runner.run(call({ url: upstream.url }), signal())).toEqual({
      ok: true,
      result: '',
      upstream: { status, content_type: null },
    });
    await upstream.close();
  });

  test('of HEAD is an empty text', async () => {
    const { outcome } = await send({ method: 'HEAD' });
    expect(outcome).toMatchObject({ ok: true, result: '' });
  });
});

describe('closing', () => {
  test('ends calls in flight, takes no new ones, and may be repeated', async () => {
    const closing = buildHttpRunner(options);
    let arrived = (): void => undefined;
    const inFlight = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const hanging = await startUpstream(() => arrived());
    const running = closing.run(call({ url: hanging.url }), signal());
    await inFlight;
    await closing.close();
    await closing.close();
    expect(await running).toMatchObject({ ok: false, upstream: null, error: { code: 'cancelled' } });
    await expect(closing.run(call({}), signal())).rejects.toMatchObject({ code: 'shutting_down' });
    await hanging.close();
  });
});
