import { describe, expect, test } from 'vitest';
import { type Failures, Gather, type GatherOptions, NO_FAILURES } from './gather.js';

/** A gather whose flushes end when the test says so. */
function makeGather(options: Partial<GatherOptions<string>> = {}) {
  const flushes: {
    items: readonly string[];
    end: (failures?: Failures<string>) => void;
    fail: (error: Error) => void;
  }[] = [];
  const gather = new Gather<string>({
    inFlightMax: 1,
    batchMax: 100,
    flush: (items) =>
      new Promise((resolve, reject) => {
        flushes.push({ items, end: (failures = NO_FAILURES) => resolve(failures), fail: reject });
      }),
    ...options,
  });
  return { gather, flushes, batches: () => flushes.map(({ items }) => items) };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('Gather', () => {
  test('flushes an item that comes alone in the same turn of the event loop', async () => {
    const { gather, flushes, batches } = makeGather();
    const done = gather.add('a');
    await turn();
    expect(batches()).toEqual([['a']]);
    flushes[0]?.end();
    await done;
  });

  test('flushes what comes in one turn together, in the order of arrival', async () => {
    const { gather, batches } = makeGather();
    for (const item of ['a', 'b', 'c']) void gather.add(item);
    await turn();
    expect(batches()).toEqual([['a', 'b', 'c']]);
  });

  test('flushes as many as are worth it at once, and the rest at the end of the turn', async () => {
    const { gather, batches } = makeGather({ inFlightMax: 2, earlyAt: 2 });
    for (const item of ['a', 'b', 'c']) void gather.add(item);
    expect(batches()).toEqual([['a', 'b']]);
    await turn();
    expect(batches()).toEqual([['a', 'b'], ['c']]);
  });

  test('does not flush early when no flight is free', async () => {
    const { gather, flushes, batches } = makeGather({ earlyAt: 1 });
    for (const item of ['a', 'b', 'c']) void gather.add(item);
    await turn();
    expect(batches()).toEqual([['a']]);
    flushes[0]?.end();
    await turn();
    expect(batches()).toEqual([['a'], ['b', 'c']]);
  });

  test('gathers what comes while a flush is in flight', async () => {
    const { gather, flushes, batches } = makeGather();
    void gather.add('a');
    await turn();
    void gather.add('b');
    await turn();
    void gather.add('c');
    await turn();
    expect(batches()).toEqual([['a']]);
    expect(gather.waiting).toBe(2);
    flushes[0]?.end();
    await turn();
    await turn();
    expect(batches()).toEqual([['a'], ['b', 'c']]);
    expect(gather.waiting).toBe(0);
  });

  test('has at most inFlightMax flushes in flight', async () => {
    const { gather, flushes, batches } = makeGather({ inFlightMax: 2 });
    for (const item of ['a', 'b', 'c', 'd']) {
      void gather.add(item);
      await turn();
    }
    expect(batches()).toEqual([['a'], ['b']]);
    flushes[1]?.end();
    await turn();
    await turn();
    expect(batches()).toEqual([['a'], ['b'], ['c', 'd']]);
  });

  test('puts at most batchMax items into one flush, and uses every flight that is free', async () => {
    const { gather, batches } = makeGather({ inFlightMax: 2, batchMax: 2 });
    for (const item of ['a', 'b', 'c', 'd', 'e']) void gather.add(item);
    await turn();
    await turn();
    expect(batches()).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
    expect(gather.waiting).toBe(1);
  });

  test('ends a flush before the item that would make it too heavy, but flushes a heavy one alone', async () => {
    const { gather, batches } = makeGather({ inFlightMax: 9, weight: { of: (item) => item.length, max: 4 } });
    for (const item of ['aa', 'bb', 'c', 'dddddd', 'e']) void gather.add(item);
    for (let turns = 0; turns < 5; turns += 1) await turn();
    expect(batches()).toEqual([['aa', 'bb'], ['c'], ['dddddd'], ['e']]);
  });

  test('resolves no item before its flush is done', async () => {
    const { gather, flushes } = makeGather();
    let done = false;
    const added = gather.add('a').then(() => {
      done = true;
    });
    await turn();
    await turn();
    expect(done).toBe(false);
    flushes[0]?.end();
    await added;
  });

  test('fails the items that the flush names, and no other', async () => {
    const { gather, flushes } = makeGather();
    const results = Promise.allSettled(['a', 'b', 'c'].map((item) => gather.add(item)));
    await turn();
    flushes[0]?.end(new Map([['b', new Error('not b')]]));
    expect(await results).toEqual([
      { status: 'fulfilled', value: undefined },
      { status: 'rejected', reason: new Error('not b') },
      { status: 'fulfilled', value: undefined },
    ]);
  });

  test('fails every item of a flush that fails, and goes on with the next', async () => {
    const { gather, flushes } = makeGather();
    const first = Promise.allSettled([gather.add('a'), gather.add('b')]);
    await turn();
    const second = gather.add('c');
    flushes[0]?.fail(new Error('down'));
    expect((await first).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await turn();
    flushes[1]?.end();
    await second;
  });
});
