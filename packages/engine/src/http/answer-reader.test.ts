import { startUpstream, type TestUpstream } from '@rowcall/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildHttpRunner } from './runner.js';
import type { HttpRunner } from './types.js';

const CONNECTIONS = 64;

let upstream: TestUpstream;
let runner: HttpRunner;
let arrived = 0;
let allArrived: Promise<void>;

beforeAll(async () => {
  let tell: () => void = () => undefined;
  allArrived = new Promise((resolve) => {
    tell = resolve;
  });
  upstream = await startUpstream(() => {
    arrived += 1;
    if (arrived === CONNECTIONS) tell();
  });
  const credential = () => undefined;
  runner = buildHttpRunner({ allowNets: [], allowLoopback: true, userAgent: 'test', credential, random: () => 0 });
});
afterAll(async () => {
  await runner.close();
  await upstream.close();
});

const send = (timeoutMs: number, signal: AbortSignal) =>
  runner.run(
    {
      method: 'GET',
      url: upstream.url,
      headers: [],
      body: null,
      auth: { kind: 'none' },
      effect: 'write',
      limits: { timeout_ms: timeoutMs },
    },
    signal,
  );

test('ends a call whose time is up while it waits for a connection, and does not send it afterwards', async () => {
  const abort = new AbortController();
  const others = Array.from({ length: CONNECTIONS }, () => send(60_000, abort.signal));
  await allArrived;
  const outcome = await send(20, new AbortController().signal);
  expect(outcome).toMatchObject({ upstream: null, error: { code: 'upstream_timeout' } });
  abort.abort();
  for (const other of await Promise.all(others)) expect(other).toMatchObject({ error: { code: 'cancelled' } });
  expect(arrived).toBe(CONNECTIONS);
});
