import { type TestStore, testStore } from '@rowcall/testing';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type AskRead, insertAsks, type NewAsk, noteAskReads } from './ask.js';
import { listAsks } from './ask-list.js';
import { expireAsks } from './expiry.js';
import { makeAsk } from './testing/asks.js';

const NOON = Date.parse('2026-05-01T12:00:00Z');
const DAY_MS = 86_400_000;

describe('asks', () => {
  let database: TestStore;

  beforeEach(async () => {
    database = await testStore();
  });
  afterEach(() => database.drop());

  const insert = (...asks: NewAsk[]): Promise<void> => insertAsks(database.store.pool, asks);
  const list = (more: Partial<Parameters<typeof listAsks>[1]> = {}) =>
    listAsks(database.store.db, { limit: 100, ...more });
  const read = (...reads: AskRead[]): Promise<void> => noteAskReads(database.store.db, reads);

  test('are listed as they were written', async () => {
    const ask = makeAsk(NOON, { question: 'quotes " and \\ and ünïcode 🦜', confidence: 0.123, category: null });
    await insert(ask);
    expect(await list()).toEqual([{ ...ask, read_keys: [], invoked: null }]);
  });

  test('that are there already were asked again', async () => {
    const ask = makeAsk(NOON, { times: 2 });
    await insert(ask, makeAsk(NOON + 1));
    await insert({ ...ask, times: 3 });
    expect((await list()).map(({ times }) => times)).toEqual([1, 5]);
  });

  test('know which of their rows were read, by their caller or without a credential', async () => {
    const own = makeAsk(NOON, { actor: 'cap:a' });
    const anonymous = makeAsk(NOON + 1, { actor: 'anyone' });
    await insert(own, anonymous);
    await read(
      { id: own.id, actor: 'cap:a', key: 'THIRD' },
      { id: own.id, actor: 'anyone', key: 'FIRST' },
      { id: own.id, actor: 'cap:b', key: 'SECOND' },
      { id: own.id, actor: 'cap:a', key: 'UNHEARD' },
      { id: anonymous.id, actor: 'cap:b', key: 'SECOND' },
      { id: 'ask_of_none', actor: 'cap:b', key: 'SECOND' },
    );
    await read({ id: own.id, actor: 'cap:a', key: 'THIRD' });
    expect((await list()).map(({ read_keys }) => read_keys)).toEqual([['SECOND'], ['FIRST', 'THIRD']]);
  });

  test('are found by whether a row fitted, and by time, page by page', async () => {
    const asks = Array.from({ length: 6 }, (_, n) => makeAsk(NOON + n, n % 2 === 0 ? {} : { best: null, keys: [] }));
    await insert(...asks);
    const ids = asks.map(({ id }) => id);
    const find = async (more: Partial<Parameters<typeof listAsks>[1]>) =>
      (await list(more)).map(({ id }) => ids.indexOf(id));
    expect(await find({ answered: false })).toEqual([5, 3, 1]);
    expect(await find({ answered: true })).toEqual([4, 2, 0]);
    expect(await find({ answered: true, limit: 1, before: ids[4] })).toEqual([2]);
    expect(await find({ fromMs: NOON + 1, toMs: NOON + 4 })).toEqual([3, 2, 1]);
    expect(await find({ answered: false, fromMs: NOON + 3, toMs: NOON + 5 })).toEqual([3]);
    expect(await find({ before: ids[2], limit: 5 })).toEqual([1, 0]);
  });

  test('expire, the oldest first, and an event tells how many', async () => {
    await insert(makeAsk(NOON), makeAsk(NOON + 1), makeAsk(NOON + DAY_MS));
    const { db } = database.store;
    expect(await expireAsks(db, { beforeMs: NOON + DAY_MS, limit: 1 })).toMatchObject({ mine: true, count: 1 });
    expect(await expireAsks(db, { beforeMs: NOON + DAY_MS, limit: 9 })).toMatchObject({ mine: true, count: 1 });
    expect(await expireAsks(db, { beforeMs: NOON + DAY_MS, limit: 9 })).toMatchObject({ mine: true, count: 0 });
    expect(await list()).toHaveLength(1);
    const { rows } = await sql`select kind, detail ->> 'count' as count from event`.execute(db);
    expect(rows).toEqual([
      { kind: 'ASK_EXPIRE', count: '1' },
      { kind: 'ASK_EXPIRE', count: '1' },
    ]);
  });
});
