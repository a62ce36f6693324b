import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createSecureServer, type Http2SecureServer } from 'node:http2';
import { createServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildHttpRunner } from './runner.js';
import type { HttpCall, HttpRunner, HttpRunnerOptions } from './types.js';

// --- a certificate, written in DER (X.690) as RFC 5280 lays it out -------------------------------------------------

const der = (tag: number, ...parts: Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
};
const sequence = (...parts: Uint8Array[]): Buffer => der(0x30, ...parts);
const oid = (...bytes: number[]): Buffer => der(0x06, Buffer.from(bytes));
const utcTime = (text: string): Buffer => der(0x17, Buffer.from(text));
const ECDSA_SHA256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));

/** Signs a certificate for `host` by itself. */
function makeCertificate(privateKey: KeyObject, host: string): string {
  const name = sequence(der(0x31, sequence(oid(0x55, 0x04, 0x03), der(0x0c, Buffer.from(host)))));
  const altName = sequence(oid(0x55, 0x1d, 0x11), der(0x04, sequence(der(0x82, Buffer.from(host)))));
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ECDSA_SHA256,
    name,
    sequence(utcTime('200101000000Z'), utcTime('491231235959Z')),
    name,
    createPublicKey(privateKey).export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(altName)),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', body, privateKey));
  const base64 = sequence(body, ECDSA_SHA256, signature).toString('base64');
  return `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`;
}

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const key = createPrivateKey(privateKey.export({ type: 'pkcs8', format: 'pem' })).export({
  type: 'pkcs8',
  format: 'pem',
});
const cert = makeCertificate(privateKey, 'secure.test');

// -------------------------------------------------------------------------------------------------------------------

let h2: Http2SecureServer;
let h1: Server;
let runner: HttpRunner;
const options: HttpRunnerOptions = {
  allowNets: [],
  allowLoopback: true,
  userAgent: 'test',
  credential: () => 'secret-value',
  random: () => 0,
  ca: [cert],
  resolve: async () => [{ address: '127.0.0.1', family: 4 }],
};
const sessions = new Set<unknown>();

beforeAll(async () => {
  h2 = createSecureServer({ key, cert, allowHTTP1: false }, (request, response) => {
    sessions.add(request.stream.session);
    if (request.url === '/hang') return;
    if (request.url === '/reset') return request.stream.close(2);
    if (request.url === '/large') return response.end('x'.repeat(3_000_000));
    if (request.url === '/away')
      return void response.writeHead(302, { location: `https://other.test:${portOf(h1)}/` }).end();
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      response.writeHead(request.url === '/204' ? 204 : 200, { 'content-type': 'application/json' });
      const { ':authority': authority, authorization } = request.headers;
      const body = Buffer.concat(chunks).toString();
      response.end(JSON.stringify({ version: request.httpVersion, authority, authorization, body }));
    });
  });
  h1 = createServer({ key, cert }, (request, response) => response.end(`HTTP/${request.httpVersion}`));
  for (const server of [h2, h1]) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  runner = buildHttpRunner(options);
});
afterAll(async () => {
  await runner.close();
  h1.close();
  h2.close();
});

const portOf = (server: { address(): unknown }): number => (server.address() as AddressInfo).port;
const send = (
  path: string,
  part: Partial<HttpCall> = {},
  on: HttpRunner = runner,
  signal = new AbortController().signal,
) =>
  on.run(
    {
      method: 'GET',
      url: `https://secure.test:${portOf(h2)}${path}`,
      headers: [],
      body: null,
      auth: { kind: 'bearer', env: 'KEY' },
      effect: 'write',
      limits: { timeout_ms: 5_000 },
      ...part,
    },
    signal,
  );

describe('HTTP/2', () => {
  test('is spoken where the server prefers it, with the name of the URL', async () => {
    const outcome = await send('/', { method: 'POST', body: { contentType: 'text/plain', text: 'ü' } });
    expect(outcome).toMatchObject({
      ok: true,
      result: { version: '2.0', authority: `secure.test:${portOf(h2)}`, authorization: 'Bearer [redacted]', body: 'ü' },
    });
  });

  test('carries many calls at once over one connection that is open', async () => {
    await send('/');
    sessions.clear();
    const outcomes = await Promise.all(Array.from({ length: 100 }, () => send('/')));
    expect(outcomes.every((outcome) => outcome.ok)).toBe(true);
    expect(sessions.size).toBe(1);
  });

  test('does not let one call wait for another, nor end with it', async () => {
    await send('/');
    sessions.clear();
    const caller = new AbortController();
    const hanging = send('/hang', {}, runner, caller.signal);
    const timedOut = send('/hang', { limits: { timeout_ms: 300 } });
    const body = { contentType: 'text/plain', text: 'x' };
    const beside = await Promise.all(Array.from({ length: 10 }, () => send('/', { method: 'POST', body })));
    expect(beside.every((outcome) => outcome.ok)).toBe(true);
    const after = send('/large');
    caller.abort();
    expect(await hanging).toMatchObject({ error: { code: 'cancelled' } });
    expect(await after).toMatchObject({ ok: true });
    expect(await timedOut).toMatchObject({ error: { code: 'upstream_timeout' } });
    expect(sessions.size).toBe(1);
  });

  test('carries bodies of any size, and none', async () => {
    expect(await send('/large')).toMatchObject({ ok: true, upstream: { truncated: true, bytes: 3_000_000 } });
    expect(await send('/204')).toMatchObject({ ok: true, result: '', upstream: { status: 204 } });
    expect(await send('/', { method: 'HEAD' })).toMatchObject({ ok: true, result: '' });
    const text = 'y'.repeat(1_000_000);
    const sent = await send('/', {
      method: 'PUT',
      body: { contentType: 'text/plain', text },
      limits: { max_response_bytes: 2_000_000 },
    });
    expect(sent).toMatchObject({ ok: true, result: { body: text } });
  });

  test('survives a reset stream, a timeout and a cancelled call', async () => {
    expect(await send('/reset')).toMatchObject({ ok: false, error: { code: expect.stringMatching(/^upstream_/) } });
    expect(await send('/hang', { limits: { timeout_ms: 100 } })).toMatchObject({ error: { code: 'upstream_timeout' } });
    const caller = new AbortController();
    const hanging = send('/hang', {}, runner, caller.signal);
    setTimeout(() => caller.abort(), 50);
    expect(await hanging).toMatchObject({ error: { code: 'cancelled' } });
    expect(await send('/')).toMatchObject({ ok: true });
  });
});

describe('TLS', () => {
  test('speaks HTTP/1.1 where the server knows nothing else', async () => {
    expect(await send('/', { url: `https://secure.test:${portOf(h1)}/` })).toMatchObject({ result: 'HTTP/1.1' });
  });

  test('refuses a certificate of another name, and one that nobody vouches for, and says which', async () => {
    expect(await send('/', { url: `https://other.test:${portOf(h1)}/` })).toMatchObject({
      ok: false,
      upstream: null,
      error: { code: 'upstream_tls', message: expect.stringContaining('ERR_TLS_CERT_ALTNAME_INVALID') },
    });
    const strict = buildHttpRunner({ ...options, ca: [] });
    expect(await send('/', {}, strict)).toMatchObject({
      error: { code: 'upstream_tls', message: expect.stringContaining('DEPTH_ZERO_SELF_SIGNED_CERT') },
    });
    await strict.close();
  });

  test('is verified anew behind a redirect', async () => {
    expect(await send('/away')).toMatchObject({ ok: false, upstream: null, error: { code: 'upstream_tls' } });
  });
});
