import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer, Client } from '../testing/client.js';
import { startTestApi, type TestApi } from '../testing/test-api.js';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

async function expectProblem(answer: Answer, status: number, code: string): Promise<void> {
  expect(answer.status).toBe(status);
  expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
  expect(answer.headers['cache-control']).toBe('no-store');
  const problem = answer.json<{ type: string; fix: string }>();
  expect(problem).toMatchObject({
    type: `/errors/${code}`,
    title: expect.stringMatching(/./),
    status,
    detail: expect.stringMatching(/./),
    error: expect.stringMatching(new RegExp(`^${code}(:|$)`)),
    fix: expect.stringMatching(/./),
  });
  const explained = await api.anyone.get(problem.type);
  expect(explained.status).toBe(200);
  expect(explained.json()).toMatchObject({ code, status, fix: expect.any(String) });
}

describe('a problem (RFC 9457), whose type leads to its explanation,', () => {
  const CASES: [string, number, string, (owner: Client, anyone: Client) => Promise<Answer>][] = [
    [
      'a body that is no JSON',
      400,
      'invalid_json',
      (owner) => owner.send('POST', '/api/dispatch', { body: '{"key":' }),
    ],
    ['an empty body', 400, 'invalid_json', (owner) => owner.send('POST', '/api/dispatch', { body: '' })],
    [
      'a body that would change prototypes',
      400,
      'invalid_json',
      (owner) => owner.send('POST', '/api/dispatch', { body: '{"key":"ECHO","args":{"__proto__":{"a":1}}}' }),
    ],
    [
      'a body of another type',
      415,
      'unsupported_media_type',
      (owner) =>
        owner.send('POST', '/api/dispatch', {
          body: 'key=NOW',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        }),
    ],
    [
      'a text that would be JSON',
      415,
      'unsupported_media_type',
      (owner) =>
        owner.send('POST', '/api/dispatch', { body: '{"key":"NOW"}', headers: { 'content-type': 'text/plain' } }),
    ],
    [
      'a body that is too large',
      413,
      'payload_too_large',
      (owner) => owner.invoke({ key: 'ECHO', body: 'x'.repeat(4_194_304) }),
    ],
    ['an address that is none', 404, 'not_found', (_owner, anyone) => anyone.get('/nothing/here')],
    [
      'an address that is none, with a body that is none',
      404,
      'not_found',
      (_owner, anyone) => anyone.send('POST', '/nothing', { body: '{' }),
    ],
    ['an address that is no text', 400, 'unrecognized_request', (_owner, anyone) => anyone.get('/receipt/%ZZ')],
    [
      'an address that is too long',
      400,
      'unrecognized_request',
      (_owner, anyone) => anyone.get(`/receipt/${'a'.repeat(200)}`),
    ],
    ['a code that is none', 404, 'not_found', (_owner, anyone) => anyone.get('/errors/constructor')],
    ['a caller without a key', 401, 'unauthorized', (_owner, anyone) => anyone.get('/api/directory')],
  ];

  it.each(CASES)('answers %s with %i', async (_what, status, code, send) => {
    await expectProblem(await send(api.owner, api.anyone), status, code);
  });

  it('does not grow with what was sent', async () => {
    const fields = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`field_${index}`, 1]));
    const unknown = await api.owner.invoke({ key: 'ECHO', ...fields });
    const examples = Array.from({ length: 50_000 }, () => 7);
    const wrong = await api.owner.post('/api/directory', { key: 'A', type: 'fn', examples });
    for (const answer of [unknown, wrong]) {
      expect(answer.status).toBe(400);
      expect(answer.text.length).toBeLessThan(20_000);
    }
  });
});

describe('an address', () => {
  it.each([
    ['DELETE', '/api/dispatch', 'GET, HEAD, POST, OPTIONS'],
    ['PUT', '/api/directory', 'GET, HEAD, POST, OPTIONS'],
    ['POST', '/api/directory/NOW', 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS'],
    ['POST', '/livez', 'GET, HEAD, OPTIONS'],
    ['TRACE', '/livez', 'GET, HEAD, OPTIONS'],
    ['PATCH', '/openapi.json', 'GET, HEAD, OPTIONS'],
  ])('answers %s %s, which it does not have, with 405 and the methods it has', async (method, url, allow) => {
    const answer = await api.anyone.send(method, url, { headers: { 'content-type': 'text/unknown' } });
    await expectProblem(answer, 405, 'method_not_allowed');
    expect(answer.headers.allow).toBe(allow);
  });

  it('tells its methods to OPTIONS, and lets no other site in (CORS)', async () => {
    const headers = { origin: 'https://evil.example', 'access-control-request-method': 'POST' };
    const answer = await api.anyone.send('OPTIONS', '/api/dispatch', { headers });
    expect(answer).toMatchObject({ status: 204, text: '', headers: { allow: 'GET, HEAD, POST, OPTIONS' } });
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  it('answers HEAD as GET, without the body', async () => {
    for (const url of ['/api/dispatch', '/livez', '/openapi.json', '/errors/internal']) {
      const head = await api.anyone.send('HEAD', url);
      expect(head).toMatchObject({ status: 200, text: '' });
      expect(head.headers['content-type']).toBe((await api.anyone.get(url)).headers['content-type']);
    }
  });

  it('never lets a browser guess a type', async () => {
    for (const url of ['/api/dispatch', '/nothing', '/livez']) {
      expect((await api.anyone.get(url)).headers['x-content-type-options']).toBe('nosniff');
    }
  });
});

describe('a defect', () => {
  it('answers a bare 500: its internals are in the log alone', async () => {
    const { pool } = api.context.store;
    await pool.query('alter table receipt rename to receipt_gone');
    const answer = await api.anyone.get(`/api/dispatch?confirm=inv_${'0'.repeat(32)}`);
    await pool.query('alter table receipt_gone rename to receipt');
    await expectProblem(answer, 500, 'internal');
    expect(Object.keys(answer.json()).sort()).toEqual([
      'detail',
      'error',
      'fix',
      'request_id',
      'status',
      'title',
      'type',
    ]);
    expect(answer.text).not.toMatch(/relation|select|postgres|\.ts|at /i);
    const logged = api.log.find((line) => line.includes('a request failed by a defect')) ?? '';
    expect(logged).toContain('relation');
    expect(logged).toContain(answer.json<{ request_id: string }>().request_id);
  });
});

describe('on a connection', () => {
  async function sendRaw(head: string): Promise<string> {
    const { port } = new URL(address);
    const socket = connect(Number(port), '127.0.0.1');
    await once(socket, 'connect');
    const answer = text(socket);
    socket.write(head);
    return answer;
  }
  let address: string;
  beforeAll(async () => {
    address = await api.listen();
  });

  it('what is no HTTP is a problem, and the connection ends', async () => {
    const answer = await sendRaw('nonsense\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(answer).toContain('"error":"unrecognized_request"');
  });

  it('a question of a mebibyte is a problem', async () => {
    const answer = await sendRaw(`GET /api/dispatch?ask=${'a'.repeat(1_048_576)} HTTP/1.1\r\nhost: a\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
    expect(answer).toContain('"error":"headers_too_large"');
  });

  it('a body that ends too early does no harm', async () => {
    const { port } = new URL(address);
    const socket = connect(Number(port), '127.0.0.1');
    await once(socket, 'connect');
    socket.write(
      'POST /api/dispatch HTTP/1.1\r\nhost: a\r\nauthorization: Bearer owner-key-of-the-tests\r\n' +
        'content-type: application/json\r\ncontent-length: 100\r\n\r\n{"key":',
    );
    socket.destroy();
    expect(await api.anyone.get('/livez')).toMatchObject({ status: 200 });
    expect(api.log.filter((line) => line.includes('ECONNRESET') && line.includes('defect'))).toEqual([]);
  });
});
