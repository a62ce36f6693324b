import { Writable } from 'node:stream';
import { silentLog } from '@rowcall/protocol';
import type { StoredEvent } from '@rowcall/store';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { EventStream, type Followed } from './event-stream.js';

const makeEvent = (id: number, event: Partial<StoredEvent> = {}): StoredEvent => ({
  id,
  at: '2026-01-02T03:04:05.000Z',
  kind: 'TEST',
  actor: 'owner',
  key: null,
  reason: null,
  detail: {},
  ...event,
});

/** A tail that holds what it is given. */
class FakeTail implements Followed {
  beginning: number | undefined = 0;
  position: number | undefined = 0;
  readonly events: StoredEvent[] = [];
  readonly listeners = new Set<() => void>();
  reads = 0;
  failures = 0;

  add(...events: StoredEvent[]): void {
    this.events.push(...events);
    this.position = events.at(-1)?.id;
    for (const listener of this.listeners) listener();
  }

  onAdvance(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  async read(after: number) {
    this.reads += 1;
    if (this.failures > 0) {
      this.failures -= 1;
      throw new Error('the database is away');
    }
    const events = this.events.filter(({ id }) => id > after).slice(0, 100);
    return { events, position: events.at(-1)?.id ?? after };
  }
}

/** A client that takes everything, or nothing while it is held. */
class Client extends Writable {
  text = '';
  #release: (() => void) | undefined;
  isHeld = false;

  override _write(chunk: Buffer, _encoding: string, callback: () => void): void {
    this.text += chunk;
    if (this.isHeld) this.#release = callback;
    else callback();
  }

  release(): void {
    this.isHeld = false;
    this.#release?.();
  }

  get ids(): number[] {
    return [...this.text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
  }
}

let tail: FakeTail;
let client: Client;
beforeEach(() => {
  vi.useFakeTimers();
  tail = new FakeTail();
  client = new Client();
});
afterEach(() => {
  vi.useRealTimers();
});

const open = (after?: number): EventStream => {
  const stream = new EventStream({ tail, after, filter: {}, log: silentLog });
  stream.pipe(client);
  return stream;
};
const settle = () => vi.advanceTimersByTimeAsync(1);

describe('an event stream', () => {
  it('is text as the standard has it', async () => {
    open();
    tail.add(makeEvent(7, { kind: 'TWO\r\nlines', key: 'ROW', reason: 'a\nb', detail: { n: 1 } }));
    await settle();
    expect(client.text).toBe(
      'retry: 2000\n\nid: 7\nevent: TWO lines\ndata: {"id":7,"at":"2026-01-02T03:04:05.000Z","kind":"TWO\\r\\nlines",' +
        '"actor":"owner","key":"ROW","reason":"a\\nb","detail":{"n":1}}\n\n',
    );
  });

  it('begins where the tail is, or after the id that is given', async () => {
    tail.add(makeEvent(1), makeEvent(2));
    open();
    await settle();
    expect(client.ids).toEqual([]);
    client = new Client();
    open(1);
    await settle();
    expect(client.ids).toEqual([2]);
  });

  it('begins where the tail begins, when that was not known at first', async () => {
    tail.beginning = undefined;
    tail.position = undefined;
    open();
    await settle();
    tail.beginning = 3;
    tail.add(makeEvent(3), makeEvent(4));
    await settle();
    expect(client.ids).toEqual([4]);
  });

  it('tells what comes while it reads', async () => {
    open(0);
    for (let id = 1; id <= 350; id += 1) {
      tail.add(makeEvent(id));
      if (id % 7 === 0) await Promise.resolve();
    }
    await settle();
    expect(client.ids).toEqual(Array.from({ length: 350 }, (_, index) => index + 1));
  });

  it('says that it lives while nothing happens', async () => {
    open();
    await vi.advanceTimersByTimeAsync(31_000);
    expect(client.text).toBe('retry: 2000\n\n: keep-alive\n\n: keep-alive\n\n');
  });

  it('takes no more than a client reads, and goes on where it was', async () => {
    client.isHeld = true;
    const stream = open();
    const text = 'x'.repeat(10_000);
    for (let id = 1; id <= 500; id += 1) tail.add(makeEvent(id, { reason: text }));
    await settle();
    expect(stream.readableLength + client.writableLength).toBeLessThan(120_000);
    const { reads } = tail;
    tail.add(makeEvent(501));
    await settle();
    expect(tail.reads).toBe(reads);
    client.release();
    await settle();
    expect(client.ids).toEqual(Array.from({ length: 501 }, (_, index) => index + 1));
  });

  it('is cut when the client takes nothing for long', async () => {
    client.isHeld = true;
    const stream = open();
    tail.add(...Array.from({ length: 50 }, (_, index) => makeEvent(index + 1, { reason: 'x'.repeat(10_000) })));
    await vi.advanceTimersByTimeAsync(29_000);
    expect(stream.destroyed).toBe(false);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(stream.destroyed).toBe(true);
  });

  it('outlives a database that is away', async () => {
    tail.failures = 2;
    open(0);
    tail.add(makeEvent(1));
    await settle();
    await vi.advanceTimersByTimeAsync(31_000);
    expect(client.ids).toEqual([1]);
  });

  it.each([
    ['its client goes', (stream: EventStream) => stream.destroy()],
    ['it is finished', (stream: EventStream) => stream.finish()],
    ['it is finished twice', (stream: EventStream) => [stream.finish(), stream.finish()]],
  ])('leaves no timer and no listener when %s', async (_name, end) => {
    const stream = open();
    await settle();
    expect([vi.getTimerCount(), tail.listeners.size]).toEqual([1, 1]);
    end(stream);
    await settle();
    expect(stream.destroyed).toBe(true);
    expect([vi.getTimerCount(), tail.listeners.size]).toEqual([0, 0]);
  });

  it('ends for its client when it is finished', async () => {
    const stream = open();
    await settle();
    stream.finish();
    await settle();
    expect(client.writableFinished).toBe(true);
  });

  it('does not wait for a client that does not read when it is finished', async () => {
    client.isHeld = true;
    const stream = open();
    tail.add(...Array.from({ length: 50 }, (_, index) => makeEvent(index + 1, { reason: 'x'.repeat(10_000) })));
    await settle();
    stream.finish();
    await settle();
    expect(stream.destroyed).toBe(true);
    expect([vi.getTimerCount(), tail.listeners.size]).toEqual([0, 0]);
  });
});
