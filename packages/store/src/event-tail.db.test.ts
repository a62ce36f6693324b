import { setTimeout as sleep } from 'node:timers/promises';
import { silentLog } from '@rowcall/protocol';
import { type TestStore, testStore } from '@rowcall/testing';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { EVENT_CHANNEL, type EventFilter, insertEvents, listEventWriters } from './event.js';
import { EventTail } from './event-tail.js';
import { Listener } from './listener.js';
import { openStore, type Store } from './store.js';
import { openClient, terminateBackends } from './testing/clients.js';
import { startProxy, type TestProxy } from './testing/proxy.js';

const INSERT = `insert into event (kind, actor, reason) values ('TEST', 'sql', $1) returning id`;

/** The same numbers between 0 and 1 for the same seed (a Lehmer generator). */
function makeRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/** One that follows a tail as a stream does. */
class Follower {
  readonly tail: EventTail;
  readonly listener: Listener;
  readonly reasons: (string | null)[] = [];
  readonly ids: number[] = [];
  #cursor: number | undefined;
  #queue = Promise.resolve();

  constructor(store: Store, options: { after?: number; name?: string } = {}) {
    this.tail = new EventTail({ db: store.db, log: silentLog });
    this.#cursor = options.after;
    const wake = () => this.tail.wake();
    const subscriptions = [{ channel: EVENT_CHANNEL, onNotification: wake, onConnected: async () => wake() }];
    this.listener = new Listener({ url: store.url, name: options.name ?? 'follower', log: silentLog, subscriptions });
    this.tail.onAdvance(() => {
      this.#queue = this.#queue.then(() => this.#pull());
    });
  }

  async start(): Promise<this> {
    await this.listener.start();
    await this.tail.start();
    return this;
  }

  /** Waits until an event with that reason has come. */
  until(reason: string): Promise<void> {
    return vi.waitFor(() => expect(this.reasons).toContain(reason), { timeout: 10_000, interval: 2 });
  }

  async stop(): Promise<void> {
    this.tail.stop();
    await this.listener.stop();
  }

  async #pull(): Promise<void> {
    for (;;) {
      const cursor = this.#cursor ?? this.tail.beginning;
      if (cursor === undefined) return;
      const { events, position } = await this.tail.read(cursor);
      this.reasons.push(...events.map(({ reason }) => reason));
      this.ids.push(...events.map(({ id }) => id));
      this.#cursor = position;
      if (position === cursor) return;
    }
  }
}

describe('a tail of the events', () => {
  let database: TestStore;
  let writers: pg.Client[];
  let followers: Follower[];
  let clients: pg.Client[];

  beforeAll(async () => {
    database = await testStore();
  });

  afterAll(async () => {
    await database.drop();
  });

  beforeEach(async () => {
    followers = [];
    clients = [];
    writers = await Promise.all([open(), open(), open()]);
  });

  afterEach(async () => {
    await Promise.all(followers.map((follower) => follower.stop()));
    await Promise.all(clients.map((client) => client.end()));
  });

  const open = async (): Promise<pg.Client> => {
    const client = await openClient(database.url);
    clients.push(client);
    return client;
  };
  const follow = (options: { after?: number; store?: Store; name?: string } = {}) => {
    const follower = new Follower(options.store ?? database.store, options);
    followers.push(follower);
    return follower.start();
  };
  const write = async (client: pg.Client | undefined, reason: string): Promise<number> => {
    const { rows } = await (client ?? database.store.pool).query<{ id: string }>(INSERT, [reason]);
    return Number(rows[0]?.id);
  };

  /** Does something that wakes the tail, and waits until it has asked the database again and again. */
  const untilLooked = async (work: () => Promise<unknown>): Promise<void> => {
    const connect = vi.spyOn(database.store.pool, 'connect');
    await work();
    await vi.waitFor(() => expect(connect.mock.calls.length).toBeGreaterThan(6), { timeout: 5_000, interval: 2 });
    connect.mockRestore();
  };

  test('tells what is committed after its start, and nothing from before', async () => {
    await write(writers[0], 'before');
    const follower = await follow();
    await write(writers[0], 'first');
    await write(writers[1], 'second');
    await follower.until('second');
    expect(follower.reasons).toEqual(['first', 'second']);
  });

  test('holds later ids back until an open transaction that has a lower one commits', async () => {
    const [early, late] = writers;
    const follower = await follow();
    await early?.query('begin');
    const low = await write(early, 'low');
    const high = await write(late, 'high');
    expect(high).toBe(low + 1);
    await untilLooked(() => write(late, 'more'));
    expect(follower.reasons).toEqual([]);
    await early?.query('commit');
    await follower.until('more');
    expect(follower.reasons.slice(0, 2)).toEqual(['low', 'high']);
  });

  test('waits also for a transaction that began after the one that overtook it', async () => {
    const [first, second] = writers;
    const follower = await follow();
    // The one that commits first has the lower transaction id and the higher event id.
    await first?.query('begin; select pg_current_xact_id()');
    await second?.query('begin');
    await write(second, 'low');
    await write(first, 'high');
    await first?.query('commit');
    await untilLooked(() => write(writers[2], 'more'));
    expect(follower.reasons).toEqual([]);
    await second?.query('commit');
    await follower.until('more');
    expect(follower.reasons).toEqual(['low', 'high', 'more']);
  });

  test('goes on over ids that were rolled back, whole or to a savepoint', async () => {
    const follower = await follow();
    await writers[0]?.query('begin');
    await write(writers[0], 'gone');
    await write(writers[1], 'kept');
    await writers[0]?.query('rollback');
    await writers[0]?.query('begin; savepoint s');
    await write(writers[0], 'gone too');
    await writers[0]?.query('rollback to s');
    await write(writers[0], 'kept too');
    await write(writers[1], 'other');
    await writers[0]?.query('commit');
    await follower.until('other');
    expect(follower.reasons).toEqual(['kept', 'kept too', 'other']);
  });

  test('is not held up by a transaction that has written no event', async () => {
    await writers[2]?.query(
      `begin; insert into process (id, lanes, concurrency, host, pid) values ('r', '{a}', 1, 'h', 1)`,
    );
    const follower = await follow();
    await writers[0]?.query('begin');
    await write(writers[0], 'gone');
    await write(writers[1], 'kept');
    await writers[0]?.query('rollback');
    await follower.until('kept');
    await writers[2]?.query('rollback');
  });

  test('that starts while a transaction is open tells its events, and what comes after', async () => {
    await write(writers[1], 'before');
    await writers[0]?.query('begin');
    await write(writers[0], 'open');
    await write(writers[1], 'overtook');
    const follower = await follow();
    await write(writers[1], 'after');
    await writers[0]?.query('commit');
    await follower.until('after');
    expect(follower.reasons).toEqual(['open', 'overtook', 'after']);
  });

  test('that starts while a transaction is open which is rolled back begins with what comes after', async () => {
    await writers[0]?.query('begin');
    await write(writers[0], 'open');
    await write(writers[1], 'overtook');
    const follower = await follow();
    await writers[0]?.query('rollback');
    await write(writers[1], 'after');
    await follower.until('after');
    expect(follower.reasons).toEqual(['after']);
  });

  test('tells those who come from an id everything after it, also what is not in memory any more', async () => {
    const id = await write(writers[0], 'seen');
    const many = Array.from({ length: 1_200 }, (_, index) => ({ kind: 'TEST', actor: 'a', reason: `many ${index}` }));
    await insertEvents(database.store.db, many);
    const follower = await follow({ after: id });
    await write(writers[0], 'live');
    await follower.until('live');
    expect(follower.reasons).toEqual([...many.map(({ reason }) => reason), 'live']);
    await insertEvents(
      database.store.db,
      many.map((event) => ({ ...event, reason: `again ${event.reason}` })),
    );
    await write(writers[0], 'end');
    await follower.until('end');
    const { events, position } = await follower.tail.read(id);
    expect(events).toHaveLength(200);
    expect(position).toBe(events.at(-1)?.id);
  });

  test.each<[string, EventFilter, string[]]>([
    ['kind', { kind: 'OTHER' }, ['2']],
    ['actor', { actor: 'b' }, ['1', '2']],
    ['key', { key: 'K' }, ['1']],
    ['all of them', { key: 'K', actor: 'a' }, []],
  ])('reads by %s alike from memory and from the database', async (_name, filter, expected) => {
    const before = await write(writers[0], 'before');
    const { tail, until } = await follow({ after: before });
    await insertEvents(database.store.db, [
      { kind: 'TEST', actor: 'a', reason: '0' },
      { kind: 'TEST', actor: 'b', key: 'K', reason: '1' },
      { kind: 'OTHER', actor: 'b', reason: '2' },
    ]);
    await write(writers[0], 'last');
    await until.call(followers[0], 'last');
    const other = await follow();
    for (const read of [tail, other.tail]) {
      const { events, position } = await read.read(before, filter);
      expect(events.map(({ reason }) => reason)).toEqual(expected);
      expect(position).toBe(read.position);
    }
  });

  test('loses nothing when its notifications are cut off meanwhile', async () => {
    const follower = await follow({ name: 'cut' });
    await write(writers[0], 'first');
    await follower.until('first');
    expect(await terminateBackends(clients[0] as pg.Client, 'cut-listen')).toBe(1);
    await write(writers[0], 'second');
    await follower.until('second');
    follower.listener.drop();
    await write(writers[0], 'third');
    await follower.until('third');
    expect(follower.reasons).toEqual(['first', 'second', 'third']);
  });

  test('loses nothing when the database is out of reach for a while', async () => {
    const proxy: TestProxy = await startProxy(database.url);
    const store = openStore({ url: proxy.url, name: 'away', log: silentLog });
    const follower = await follow({ store });
    await write(writers[0], 'first');
    await follower.until('first');
    proxy.cut();
    await writers[1]?.query('begin');
    await write(writers[1], 'low');
    await write(writers[0], 'high');
    await writers[1]?.query('commit');
    proxy.restore();
    await follower.until('high');
    expect(follower.reasons).toEqual(['first', 'low', 'high']);
    await follower.stop();
    await store.close();
    await proxy.close();
  });

  test('tells every event once and in order to all, whoever commits and rolls back when', async () => {
    const [one, two] = await Promise.all([follow(), follow()]);
    const random = makeRandom(7);
    const writeSome = async (client: pg.Client): Promise<number[]> => {
      const ids: number[] = [];
      for (let n = random() * 3; n > 0; n -= 1) {
        ids.push(await write(client, 'round'));
        if (random() < 0.3) await sleep(random() * 8);
      }
      return ids;
    };
    const committed: number[] = [];
    const work = async (client: pg.Client): Promise<void> => {
      for (let round = 0; round < 60; round += 1) {
        await client.query('begin');
        const ids = await writeSome(client);
        const isKept = random() < 0.7;
        await client.query(isKept ? 'commit' : 'rollback');
        if (isKept) committed.push(...ids);
      }
    };
    await Promise.all(writers.map(work));
    await write(writers[0], 'end');
    await Promise.all([one.until('end'), two.until('end')]);
    committed.sort((a, b) => a - b);
    expect(one.ids.slice(0, -1)).toEqual(committed);
    expect(two.ids).toEqual(one.ids);
  });

  test('knows who has written events and is not over', async () => {
    expect(await listEventWriters(database.store.db)).toEqual([]);
    await writers[0]?.query('begin');
    await write(writers[0], 'open');
    await writers[1]?.query('begin; select * from event; select pg_current_xact_id()');
    expect(await listEventWriters(database.store.db)).toHaveLength(1);
    await writers[0]?.query('rollback');
    await writers[1]?.query('rollback');
    expect(await listEventWriters(database.store.db)).toEqual([]);
  });

  test('that is stopped asks no more and tells nobody', async () => {
    const follower = await follow();
    await writers[0]?.query('begin');
    await write(writers[0], 'low');
    await write(writers[1], 'high');
    await untilLooked(() => write(writers[1], 'more'));
    const told = vi.fn();
    follower.tail.onAdvance(told);
    follower.tail.stop();
    await writers[0]?.query('commit');
    const other = await follow();
    await write(writers[0], 'end');
    await other.until('end');
    expect(told).not.toHaveBeenCalled();
  });
});
