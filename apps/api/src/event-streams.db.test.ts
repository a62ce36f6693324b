import { once } from 'node:events';
import { silentLog } from '@rowcall/protocol';
import { insertEvent, openStore } from '@rowcall/store';
import { type TestStore, testStore } from '@rowcall/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { EventStreams } from './event-streams.js';
import { openDatabaseGate } from './testing/database-gate.js';
import { openEvents } from './testing/event-client.js';
import { startTestApi } from './testing/test-api.js';

let database: TestStore;
beforeAll(async () => {
  database = await testStore();
});
afterAll(() => database.drop());

const ALL = { filter: {}, after: undefined };

describe('the event streams of a process', () => {
  it('are bounded, and one that ends makes room', async () => {
    const events = new EventStreams({ store: database.store, log: silentLog, streamsMax: 2 });
    const [first] = await Promise.all([events.open(ALL), events.open(ALL)]);
    await expect(events.open(ALL)).rejects.toMatchObject({ code: 'too_many_streams', details: { retry_after: 5 } });
    first.destroy();
    await once(first, 'close');
    await events.open(ALL);
    expect(events.size).toBe(2);
    events.stop();
    await vi.waitUntil(() => events.size === 0);
    expect(events.isFollowing).toBe(false);
  });

  it('cannot be opened after the stop', async () => {
    const events = new EventStreams({ store: database.store, log: silentLog });
    const opening = events.open(ALL);
    events.stop();
    await expect(opening).rejects.toMatchObject({ code: 'shutting_down' });
    await expect(events.open(ALL)).rejects.toMatchObject({ code: 'shutting_down' });
    expect([events.size, events.isFollowing]).toEqual([0, false]);
  });

  it('hold nothing when the database is away, and can be opened when it is back', async () => {
    const gate = await openDatabaseGate(database.url);
    await gate.cut();
    const store = openStore({ url: gate.url, name: 'streams', log: silentLog });
    const events = new EventStreams({ store, log: silentLog });
    await expect(events.open(ALL)).rejects.toThrow();
    expect([events.size, events.isFollowing]).toEqual([0, false]);
    await gate.restore();
    const stream = await events.open(ALL);
    stream.destroy();
    await once(stream, 'close');
    await store.close();
    await gate.close();
  });
});

describe('a process that stops', () => {
  it('ends its streams, also of clients that read nothing, and is not held up by them', async () => {
    const api = await startTestApi({ databaseUrl: database.url });
    const address = await api.listen();
    const [reading, stalled] = [await openEvents(address), await openEvents(address)];
    stalled.pause();
    const detail = { text: 'x'.repeat(1_000_000) };
    for (let n = 0; n < 20; n += 1) await insertEvent(database.store.db, { kind: 'BIG', actor: 'a', detail });
    await insertEvent(database.store.db, { kind: 'LAST', actor: 'a', reason: 'last' });
    await reading.until('last');
    // A grace that the test would not live to see the end of.
    await api.close(120_000);
    await vi.waitUntil(() => reading.isEnded());
    expect(reading.events()).toHaveLength(21);
    expect([api.context.events.size, api.context.events.isFollowing]).toEqual([0, false]);
    stalled.leave();
  });
});
