import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { brotliCompressSync, createGzip, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { startUpstream, type TestUpstream } from '@rowcall/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { buildHttpRunner } from './runner.js';
import type { HttpCall, HttpRunner } from './types.js';

const MEBIBYTE = 1_048_576;
let upstream: TestUpstream;
let runner: HttpRunner;
let respond: (response: ServerResponse, request: IncomingMessage) => void;

beforeAll(async () => {
  upstream = await startUpstream((request, response) => respond(response, request));
});
beforeEach(() => {
  runner = buildHttpRunner({
    allowNets: [],
    allowLoopback: true,
    userAgent: 'test',
    credential: () => undefined,
    random: () => 0,
  });
});
afterAll(() => upstream.close());

const send = (part: Partial<HttpCall> = {}, signal = new AbortController().signal) =>
  runner.run(
    {
      method: 'GET',
      url: upstream.url,
      headers: [],
      body: null,
      auth: { kind: 'none' },
      effect: 'write',
      limits: { timeout_ms: 10_000 },
      ...part,
    },
    signal,
  );

describe('time', () => {
  test('ends a call to an upstream that never answers', async () => {
    respond = () => undefined;
    const startedAt = performance.now();
    expect(await send({ limits: { timeout_ms: 80 } })).toEqual({
      ok: false,
      result: null,
      upstream: null,
      error: { code: 'upstream_timeout', message: `${upstream.url} did not finish its answer within 80 ms` },
    });
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });

  test('includes the body, of which what came is kept', async () => {
    respond = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: 1\n\n');
    };
    expect(await send({ limits: { timeout_ms: 150 } })).toMatchObject({
      ok: false,
      result: 'data: 1\n\n',
      upstream: { status: 200, truncated: true, bytes: 9 },
      error: { code: 'upstream_timeout' },
    });
  });

  test('covers all retries of a read together', async () => {
    let attempts = 0;
    respond = (response) => {
      attempts += 1;
      if (attempts === 1) response.writeHead(503).end();
    };
    const outcome = await send({ effect: 'read', limits: { timeout_ms: 200 } });
    expect(outcome).toMatchObject({ error: { code: 'upstream_timeout' } });
    expect(attempts).toBe(2);
  });

  test('is given back when the caller gives up, before and during the call', async () => {
    expect(await send({}, AbortSignal.abort())).toMatchObject({ ok: false, error: { code: 'cancelled' } });
    const caller = new AbortController();
    respond = () => caller.abort();
    expect(await send({}, caller.signal)).toMatchObject({ ok: false, upstream: null, error: { code: 'cancelled' } });
  });
});

describe('size', () => {
  test('is cut at a mebibyte, marked, and hashed whole', async () => {
    const body = Buffer.alloc(3 * MEBIBYTE, 'abcdefg');
    respond = (response) => response.writeHead(200, { 'content-type': 'text/plain' }).end(body);
    const outcome = await send();
    expect(outcome.ok).toBe(true);
    expect(outcome.result).toBe(body.subarray(0, MEBIBYTE).toString());
    expect(outcome.upstream).toEqual({
      status: 200,
      content_type: 'text/plain',
      truncated: true,
      bytes: 3 * MEBIBYTE,
      sha256: createHash('sha256').update(body).digest('hex'),
    });
  });

  test('is not cut at exactly the limit of the row, and is cut one byte further', async () => {
    respond = (response) => response.end('12345');
    expect(await send({ limits: { max_response_bytes: 5 } })).toEqual({
      ok: true,
      result: '12345',
      upstream: { status: 200, content_type: null },
    });
    expect(await send({ limits: { max_response_bytes: 4 } })).toMatchObject({
      result: '1234',
      upstream: { truncated: true, bytes: 5, sha256: createHash('sha256').update('12345').digest('hex') },
    });
  });

  test('of a body cut within a character ends before it', async () => {
    respond = (response) => response.writeHead(200, { 'content-type': 'text/plain' }).end('a☃☃');
    expect(await send({ limits: { max_response_bytes: 6 } })).toMatchObject({ ok: true, result: 'a☃' });
  });

  test('of an endless body stops at 64 MiB and says so', async () => {
    respond = (response) => {
      const chunk = Buffer.alloc(MEBIBYTE, 'x');
      const pour = (): void => void (response.destroyed || response.write(chunk, pour));
      pour();
    };
    const outcome = await send();
    expect(outcome).toMatchObject({
      ok: false,
      upstream: { status: 200, truncated: true },
      error: { code: 'response_too_large' },
    });
    expect(outcome.upstream).not.toHaveProperty('sha256');
    expect(outcome.upstream?.bytes).toBeLessThan(70 * MEBIBYTE);
  });

  test('of a zip bomb is bounded after inflation', async () => {
    respond = (response) => {
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'text/plain' });
      const zeros = Buffer.alloc(MEBIBYTE);
      Readable.from(Array(256).fill(zeros))
        .pipe(createGzip({ level: 1 }))
        .pipe(response);
    };
    const before = process.memoryUsage().arrayBuffers;
    const outcome = await send();
    expect(outcome).toMatchObject({ ok: false, error: { code: 'response_too_large' } });
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(150 * MEBIBYTE);
  });
});

describe('content codings', () => {
  const body = 'hello '.repeat(10_000);
  test.each([
    ['gzip', gzipSync(body)],
    ['x-gzip', gzipSync(body)],
    ['deflate', deflateSync(body)],
    ['deflate', deflateRawSync(body)],
    ['br', brotliCompressSync(body)],
    ['gzip, br', brotliCompressSync(gzipSync(body))],
    ['identity', Buffer.from(body)],
  ])('%s is undone', async (coding, bytes) => {
    respond = (response) => response.writeHead(200, { 'content-encoding': coding }).end(bytes);
    expect(await send()).toEqual({ ok: true, result: body, upstream: { status: 200, content_type: null } });
  });

  test.each(['gzip', 'deflate', 'br'])('%s with nothing in it is empty', async (coding) => {
    respond = (response) => response.writeHead(200, { 'content-encoding': coding }).end();
    expect(await send()).toMatchObject({ ok: true, result: '' });
  });

  test.each([
    ['gzip', 'this is not gzip'],
    ['deflate', 'x this is not deflate'],
    ['br', 'this is not brotli at all'],
    ['zstd', 'x'],
    ['gzip, gzip, gzip', 'x'],
  ])('%s that does not hold what it says is a failure of the upstream', async (coding, bytes) => {
    respond = (response) => response.writeHead(200, { 'content-encoding': coding }).end(bytes);
    expect(await send()).toMatchObject({ ok: false, upstream: { status: 200 }, error: { code: 'upstream_protocol' } });
  });
});

describe('broken upstreams', () => {
  const servers: Server[] = [];
  const sockets = new Set<Socket>();
  afterAll(() => {
    for (const socket of sockets) socket.destroy();
    for (const server of servers) server.close();
  });
  /** Answers every connection with raw bytes. */
  const raw = async (answer: (socket: Socket) => void): Promise<string> => {
    const server = createServer((socket) => {
      sockets.add(socket.on('error', () => undefined));
      socket.once('data', () => answer(socket));
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };

  test.each([
    ['no HTTP at all', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['a malformed status', 'HTTP/1.1 abc OK\r\n\r\n'],
    ['a malformed header', 'HTTP/1.1 200 OK\r\nbad header\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'],
    [
      'length and chunks',
      'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n',
    ],
    ['a malformed chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'],
    ['headers without end', `HTTP/1.1 200 OK\r\n${`x-a: ${'b'.repeat(1_000)}\r\n`.repeat(40)}`],
  ])('that send %s are a failure of the protocol', async (_name, bytes) => {
    const url = await raw((socket) => socket.end(bytes));
    expect(await send({ url })).toMatchObject({ ok: false, error: { code: 'upstream_protocol' } });
  });

  test('that reset the connection within the body leave what came', async () => {
    const url = await raw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\ncontent-type: text/plain\r\n\r\npartial');
      setTimeout(() => socket.resetAndDestroy(), 50);
    });
    expect(await send({ url })).toMatchObject({
      ok: false,
      result: 'partial',
      upstream: { status: 200, truncated: true, bytes: 7 },
      error: { code: 'upstream_unreachable' },
    });
  });

  test('that close without a word, or listen nowhere, are unreachable', async () => {
    const url = await raw((socket) => socket.destroy());
    expect(await send({ url })).toMatchObject({ upstream: null, error: { code: 'upstream_unreachable' } });
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    expect(await send({ url: `http://127.0.0.1:${port}/secret-path` })).toMatchObject({
      error: { code: 'upstream_unreachable', message: `no answer from http://127.0.0.1:${port} (ECONNREFUSED)` },
    });
  });

  test('that send ill-formed UTF-8 and an odd content type give text all the same', async () => {
    const url = await raw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-type: text/plain; charset=nope\r\n\r\n');
      socket.end(Buffer.from([0x61, 0xff, 0x62]));
    });
    expect(await send({ url })).toMatchObject({ ok: true, result: 'a\ufffdb' });
  });

  test('that send interim answers first are understood', async () => {
    const url = await raw((socket) =>
      socket.end('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'),
    );
    expect(await send({ url })).toMatchObject({ ok: true, result: 'ok' });
  });

  test('that speak plain HTTP where TLS is expected are a failure of TLS', async () => {
    const url = await raw((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    expect(await send({ url: url.replace('http:', 'https:') })).toMatchObject({ error: { code: 'upstream_tls' } });
  });
});
