import { afterEach, describe, expect, it } from 'vitest';
import type { Api } from '../api.js';
import { startServer } from '../testing/server.js';
import { Asker, readAskTiming } from './asker.js';

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

/** A server on loopback that notes what it is asked. */
async function startAsker(status: number, headers: Record<string, string>) {
  const asked: string[] = [];
  const url = await startServer(({ url: path = '' }, response) => {
    asked.push(path);
    response.writeHead(status, headers).end('{}');
  });
  const asker = new Asker({ url: new URL(url).origin } as Api, 2);
  open.push(() => asker.close());
  return { asked, asker };
}

describe('an asker', () => {
  it('asks every question once, and takes the time that the engine says it took', async () => {
    const { asked, asker } = await startAsker(200, { 'server-timing': 'db;dur=9, ask;desc="search";dur=1.5' });
    const { latency, engine } = await asker.ask(['mail & more', 'weather', 'time']);
    expect(asked.sort()).toEqual([
      '/api/dispatch?ask=mail%20%26%20more',
      '/api/dispatch?ask=time',
      '/api/dispatch?ask=weather',
    ]);
    expect(latency.count).toBe(3);
    expect(engine).toMatchObject({ count: 3, p50Ms: 1.5, p99Ms: 1.5 });
  });

  it('does without the engine’s time where the server does not say it', async () => {
    const { asker } = await startAsker(200, {});
    expect(await asker.ping(2)).toMatchObject({ latency: { count: 2 }, engine: undefined });
  });

  it('stops at an answer that is not a right one', async () => {
    const { asker } = await startAsker(503, {});
    await expect(asker.ask(['mail'])).rejects.toThrow(/503/);
  });
});

describe('the time of the engine', () => {
  it.each([
    ['ask;dur=0.25', 0.25],
    ['db;dur=9,ask;dur=2', 2],
    ['task;dur=9', undefined],
    [undefined, undefined],
  ])('is read from %j', (header, ms) => expect(readAskTiming(header)).toBe(ms));
});
