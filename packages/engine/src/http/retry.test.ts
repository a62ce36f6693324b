import type { ServerResponse } from 'node:http';
import { startUpstream, type TestUpstream } from '@rowcall/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { BREAKER_COOL_DOWN_MS, BREAKER_FAILURES, buildCircuitBreaker } from './breaker.js';
import { parseRetryAfterMs, toBackoffMs } from './retry.js';
import { buildHttpRunner } from './runner.js';
import type { HttpCall, HttpRunner } from './types.js';

let upstream: TestUpstream;
let runner: HttpRunner;
let attempts = 0;
let clockMs = 0;
let respond: (response: ServerResponse, attempt: number) => void;

beforeAll(async () => {
  upstream = await startUpstream((_request, response) => {
    attempts += 1;
    respond(response, attempts);
  });
});
beforeEach(() => {
  attempts = 0;
  clockMs = 0;
  runner = buildHttpRunner({
    allowNets: [],
    allowLoopback: true,
    userAgent: 'test',
    credential: () => 'secret-value',
    random: () => 0,
    now: () => clockMs,
  });
});
afterAll(() => upstream.close());

const send = async (part: Partial<HttpCall> = {}) => {
  const call: HttpCall = {
    method: 'GET',
    url: upstream.url,
    headers: [],
    body: null,
    auth: { kind: 'none' },
    effect: 'read',
    limits: { timeout_ms: 3_000 },
    ...part,
  };
  return runner.run(call, new AbortController().signal);
};
/** Answers `status` until the given attempt, then 200. */
const recoverAt = (attempt: number, status: number, headers: Record<string, string> = {}) => {
  respond = (response, current) => {
    if (current < attempt) response.writeHead(status, headers).end(`failed ${current}`);
    else response.end('fine');
  };
};

describe('retries', () => {
  test.each([502, 503, 504])('send a read again after %i', async (status) => {
    recoverAt(3, status);
    expect(await send()).toMatchObject({ ok: true, result: 'fine' });
    expect(attempts).toBe(3);
  });

  test('send a read again when the connection breaks before or within the answer', async () => {
    respond = (response, attempt) => {
      if (attempt === 1) response.destroy();
      else if (attempt === 2)
        response.writeHead(200, { 'content-length': '100' }).write('part', () => response.destroy());
      else response.end('fine');
    };
    expect(await send()).toMatchObject({ ok: true, result: 'fine' });
    expect(attempts).toBe(3);
  });

  test('stop after two and answer with the last failure', async () => {
    recoverAt(9, 503);
    expect(await send()).toMatchObject({ ok: false, result: 'failed 3', error: { code: 'upstream_503' } });
    expect(attempts).toBe(3);
  });

  test.each(['write', 'destructive'] as const)('never send a %s again', async (effect) => {
    recoverAt(2, 503, { 'retry-after': '0' });
    expect(await send({ effect })).toMatchObject({ error: { code: 'upstream_503' } });
    expect(attempts).toBe(1);
    respond = (response) => response.destroy();
    expect(await send({ effect })).toMatchObject({ error: { code: 'upstream_unreachable' } });
    expect(attempts).toBe(2);
  });

  test.each([400, 404, 500, 501])('do not follow %i', async (status) => {
    recoverAt(2, status);
    await send();
    expect(attempts).toBe(1);
  });

  test('follow 429 only when its retry-after fits into the time that is left', async () => {
    recoverAt(2, 429, { 'retry-after': '1' });
    const startedAt = performance.now();
    expect(await send()).toMatchObject({ ok: true });
    expect(performance.now() - startedAt).toBeGreaterThan(950);
    attempts = 0;
    recoverAt(2, 429, { 'retry-after': '60' });
    expect(await send()).toMatchObject({ error: { code: 'upstream_429' } });
    recoverAt(9, 429);
    expect(await send()).toMatchObject({ error: { code: 'upstream_429' } });
    expect(attempts).toBe(2);
  });

  test('read retry-after in seconds and as a date', () => {
    const now = Date.UTC(2026, 0, 1);
    expect(parseRetryAfterMs('7', now)).toBe(7_000);
    expect(parseRetryAfterMs('Thu, 01 Jan 2026 00:00:05 GMT', now)).toBe(5_000);
    expect(parseRetryAfterMs('Wed, 31 Dec 2025 00:00:05 GMT', now)).toBe(0);
    for (const header of [undefined, '', '-1', '1.5', 'soon', '1e3']) {
      expect(parseRetryAfterMs(header, now)).toBeUndefined();
    }
  });

  test('wait longer each time, half of it at random', () => {
    expect([0, 1, 9].map((retry) => toBackoffMs(retry, () => 0))).toEqual([50, 100, 1_000]);
    expect([0, 1, 9].map((retry) => toBackoffMs(retry, () => 1))).toEqual([100, 200, 2_000]);
  });
});

describe('circuit breaker', () => {
  const failFive = async (part: Partial<HttpCall> = {}) => {
    recoverAt(1_000, 500);
    for (let i = 0; i < 5; i += 1) await send({ effect: 'write', ...part });
  };

  test('opens after five failures, sends nothing while open, probes once after ten seconds', async () => {
    await failFive();
    recoverAt(0, 200);
    expect(await send()).toMatchObject({ ok: false, upstream: null, error: { code: 'circuit_open' } });
    expect(attempts).toBe(5);
    clockMs = 10_000;
    expect(await send()).toMatchObject({ ok: true });
    expect(await send()).toMatchObject({ ok: true });
    expect(attempts).toBe(7);
  });

  test('keeps the circuits of two credentials apart', async () => {
    await failFive();
    recoverAt(0, 200);
    expect(await send({ auth: { kind: 'bearer', env: 'KEY' } })).toMatchObject({ ok: true });
  });

  test.each([404, 429])('is not tripped by %i', async (status) => {
    recoverAt(1_000, status);
    for (let i = 0; i < 8; i += 1) await send({ effect: 'write' });
    expect(attempts).toBe(8);
  });

  test('counts failures in a row only, and not those of cancelled calls', () => {
    const breaker = buildCircuitBreaker(() => clockMs);
    const fail = (times: number, health: 'down' | 'unknown' = 'down') => {
      for (let i = 0; i < times; i += 1) breaker.leave('k', health);
    };
    fail(BREAKER_FAILURES - 1);
    breaker.leave('k', 'up');
    fail(BREAKER_FAILURES - 1);
    fail(9, 'unknown');
    expect(breaker.enter('k')).toBe(true);
    fail(1);
    expect(breaker.enter('k')).toBe(false);
  });

  test('lets one probe through, and opens again when it fails', () => {
    const breaker = buildCircuitBreaker(() => clockMs);
    for (let i = 0; i < BREAKER_FAILURES; i += 1) breaker.leave('k', 'down');
    clockMs = BREAKER_COOL_DOWN_MS;
    expect([breaker.enter('k'), breaker.enter('k')]).toEqual([true, false]);
    breaker.leave('k', 'down');
    expect(breaker.enter('k')).toBe(false);
    clockMs *= 2;
    expect(breaker.enter('k')).toBe(true);
    breaker.leave('k', 'unknown');
    expect(breaker.enter('k')).toBe(true);
  });
});
