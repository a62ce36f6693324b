import { silentLog } from '@rowcall/protocol';
import { type TestStore, testStore } from '@rowcall/testing';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { Listener, type Subscription } from './listener.js';
import { openClient, terminateBackends } from './testing/clients.js';
import { startProxy, type TestProxy } from './testing/proxy.js';

const NAME = 'test-listen';

describe('a listener', () => {
  let database: TestStore;
  let other: pg.Client;
  let proxy: TestProxy;
  let listener: Listener;
  let log: string[];

  beforeAll(async () => {
    database = await testStore();
    other = await openClient(database.url);
  });

  afterAll(async () => {
    await other.end();
    await database.drop();
  });

  beforeEach(async () => {
    log = [];
    proxy = await startProxy(database.url);
    listener = build();
  });

  afterEach(async () => {
    await listener.stop();
    await proxy.close();
  });

  const build = (subscription: Partial<Subscription> = {}) =>
    new Listener({
      url: proxy.url,
      name: 'test',
      log: silentLog,
      subscriptions: [
        {
          channel: 'first',
          onNotification: (payload) => log.push(payload),
          onConnected: async () => void log.push('connected'),
          onLost: () => log.push('lost'),
          ...subscription,
        },
        { channel: 'second', onNotification: (payload) => log.push(`second ${payload}`) },
      ],
    });
  const notify = (payload: string, channel = 'first') => other.query('select pg_notify($1, $2)', [channel, payload]);
  const untilLogged = (entry: string, times = 1) =>
    vi.waitFor(() => expect(log.filter((logged) => logged === entry)).toHaveLength(times), {
      timeout: 5_000,
      interval: 2,
    });
  const countConnections = async () => {
    const { rows } = await other.query<{ count: number }>(
      'select count(*)::int as count from pg_stat_activity where datname = current_database() and application_name = $1',
      [NAME],
    );
    return rows[0]?.count;
  };

  test('delivers notifications in their order, each to its channel', async () => {
    await listener.start();
    await notify('a');
    await notify('b', 'second');
    await notify('c', 'third');
    await notify('d');
    await untilLogged('d');
    expect(log).toEqual(['connected', 'a', 'second b', 'd']);
  });

  test('fails to start when the database is away, and can be started later', async () => {
    proxy.cut();
    await expect(listener.start()).rejects.toThrow();
    proxy.restore();
    await listener.start();
    expect(log).toEqual(['connected']);
  });

  test('has one connection however often it is started', async () => {
    await Promise.all([listener.start(), listener.start()]);
    await listener.start();
    expect(await countConnections()).toBe(1);
    expect(log).toEqual(['connected']);
  });

  test.each([
    ['the server ends its connection', () => terminateBackends(other, NAME)],
    ['its network breaks', async () => listener.drop()],
    [
      'the server goes away and comes back',
      async () => {
        proxy.cut();
        await untilLogged('lost');
        proxy.restore();
      },
    ],
  ])('says lost, then connected, and hears again when %s', async (_name, lose) => {
    await listener.start();
    await lose();
    await untilLogged('connected', 2);
    await notify('after');
    await untilLogged('after');
    expect(log).toEqual(['connected', 'lost', 'connected', 'after']);
    expect(await countConnections()).toBe(1);
  });

  test('comes back from one loss after the other', async () => {
    await listener.start();
    for (const times of [2, 3, 4]) {
      listener.drop();
      await untilLogged('connected', times);
    }
    expect(log).toEqual(['connected', 'lost', 'connected', 'lost', 'connected', 'lost', 'connected']);
  });

  test('listens before the state is read, so that no change falls between the two', async () => {
    let read: () => void = () => undefined;
    listener = build({
      onConnected: () =>
        new Promise((resolve) => {
          log.push('reading');
          read = resolve;
        }),
    });
    const started = listener.start();
    await untilLogged('reading');
    await notify('meanwhile');
    await untilLogged('meanwhile');
    read();
    await started;
  });

  test('notices a loss that falls into the reading of the state', async () => {
    let times = 0;
    listener = build({
      onConnected: async () => {
        times += 1;
        log.push('connected');
        if (times > 1) return;
        await terminateBackends(other, NAME);
        await vi.waitFor(async () => expect(await countConnections()).toBe(0));
      },
    });
    await listener.start();
    await untilLogged('connected', 2);
    expect(log).toEqual(['connected', 'lost', 'connected']);
  });

  test('tries again when the state cannot be read after a loss', async () => {
    let times = 0;
    listener = build({
      onConnected: async () => {
        times += 1;
        if (times === 2) throw new Error('not yet');
        log.push('connected');
      },
    });
    await listener.start();
    listener.drop();
    await untilLogged('connected', 2);
    expect(log).toEqual(['connected', 'lost', 'connected']);
    expect(await countConnections()).toBe(1);
  });

  test('leaves no connection and calls nothing after its stop, however often it is stopped', async () => {
    await listener.start();
    await Promise.all([listener.stop(), listener.stop()]);
    await listener.stop();
    await vi.waitFor(async () => expect(await countConnections()).toBe(0));
    expect(log).toEqual(['connected']);
  });

  test('leaves no connection when it is stopped while it starts', async () => {
    const started = listener.start().catch(() => undefined);
    await listener.stop();
    await started;
    await vi.waitFor(async () => expect(await countConnections()).toBe(0));
  });

  test('leaves no connection when it is stopped while it reads the state after a loss', async () => {
    let isSecond = false;
    let read: () => void = () => undefined;
    listener = build({
      onConnected: () => {
        log.push('reading');
        if (isSecond)
          return new Promise((resolve) => {
            read = resolve;
          });
        isSecond = true;
        return Promise.resolve();
      },
    });
    await listener.start();
    listener.drop();
    await untilLogged('reading', 2);
    const stopped = listener.stop();
    read();
    await stopped;
    await vi.waitFor(async () => expect(await countConnections()).toBe(0));
    expect(log).toEqual(['reading', 'lost', 'reading']);
  });

  test('stops although the database is away', async () => {
    await listener.start();
    proxy.cut();
    await untilLogged('lost');
    await listener.stop();
  });

  test('stops although the network swallows everything', async () => {
    await listener.start();
    proxy.freeze();
    await listener.stop();
    expect(log).toEqual(['connected']);
  });

  test('does not start after its stop', async () => {
    await listener.stop();
    await expect(listener.start()).rejects.toThrow();
    // The server may still be ending the connection of the test before.
    await vi.waitFor(async () => expect(await countConnections()).toBe(0));
  });
});
