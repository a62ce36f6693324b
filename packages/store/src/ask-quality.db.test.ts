import type { Receipt } from '@rowcall/protocol';
import { makeReceipt, type TestStore, testStore } from '@rowcall/testing';
import { type Kysely, sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { insertAsks, type NewAsk } from './ask.js';
import { listAsks } from './ask-list.js';
import { measureAsks } from './ask-quality.js';
import { insertReceipts } from './receipt.js';
import type { Database } from './schema.js';
import { makeAsk, toIdAt } from './testing/asks.js';

const NOON = Date.parse('2026-05-01T12:00:00Z');
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

describe('the quality of asks', () => {
  let database: TestStore;

  beforeEach(async () => {
    database = await testStore();
  });
  afterEach(() => database.drop());

  const insert = async (...asks: NewAsk[]): Promise<void> => insertAsks(database.store.pool, asks);
  /** Calls, at a moment each. */
  const call = (...calls: (Partial<Receipt> & { ms: number })[]) =>
    insertReceipts(
      database.store.ledgerPool,
      calls.map(({ ms, ...receipt }) => makeReceipt({ id: toIdAt('inv', ms), key: 'SECOND', ...receipt })),
    );
  const measure = (fromMs = NOON, toMs = NOON + DAY_MS) => measureAsks(database.store.db, { fromMs, toMs });
  /** What followed each ask, oldest first. */
  const readInvoked = async () =>
    (await listAsks(database.store.db, { limit: 100 }))
      .reverse()
      .map(({ invoked }) => invoked && `${invoked.by} ${invoked.key} ${invoked.rank}`);

  test('is nothing of nothing', async () => {
    expect(await measure()).toEqual({
      complete: true,
      asks: 0,
      answered: 0,
      answered_share: null,
      invoked: 0,
      named: 0,
      matched: 0,
      without_invoke: 0,
      mrr: null,
      hit_at_1: null,
      hit_at_5: null,
      ranks: {},
      by_day: [],
      by_category: [],
    });
  });

  test('counts the places of the rows that were invoked, by day and by category', async () => {
    const first = makeAsk(NOON);
    const second = makeAsk(NOON + 1, { category: 'other' });
    const nothing = makeAsk(NOON + DAY_MS - 1, { best: null, keys: [], category: null });
    const elsewhere = makeAsk(NOON + 2);
    await insert(first, second, nothing, elsewhere, makeAsk(NOON + 3), makeAsk(NOON - 1), makeAsk(NOON + DAY_MS));
    await call(
      { ms: NOON + 5, key: 'FIRST', ask_id: first.id },
      { ms: NOON + DAY_MS, key: 'THIRD', ask_id: second.id },
      { ms: NOON + 6, key: 'UNHEARD', ask_id: elsewhere.id },
    );
    const sums = { named: 3, matched: 0, mrr: 0.4444, hit_at_1: 0.3333, hit_at_5: 0.6667 };
    const quality = await measure();
    expect(quality).toMatchObject({ complete: true, asks: 5, answered: 4, answered_share: 0.8, ...sums });
    expect(quality).toMatchObject({ invoked: 3, without_invoke: 2, ranks: { 1: 1, 3: 1, none: 1 } });
    expect(quality.by_day).toMatchObject([
      { day: '2026-05-01', asks: 4, invoked: 3, mrr: 0.4444 },
      { day: '2026-05-02', asks: 1, answered: 0, answered_share: 0, invoked: 0, mrr: null },
    ]);
    expect(quality.by_category).toMatchObject([
      { category: 'test', asks: 3, mrr: 0.5 },
      { category: 'other', asks: 1, mrr: 0.3333 },
      { category: null, asks: 1, mrr: null },
    ]);
  });

  test('counts a call that names an ask for its caller alone, and for anybody where nobody said who asked', async () => {
    const own = makeAsk(NOON, { actor: 'cap:a' });
    const foreign = makeAsk(NOON + 1, { actor: 'cap:a' });
    const anonymous = makeAsk(NOON + 2, { actor: 'anyone' });
    await insert(own, foreign, anonymous);
    await call(
      { ms: NOON + 10 * DAY_MS, actor: 'cap:a', ask_id: own.id },
      { ms: NOON + 20, actor: 'cap:b', ask_id: foreign.id },
      { ms: NOON + 30, actor: 'cap:b', ask_id: anonymous.id },
      { ms: NOON + 40, actor: 'cap:b', ask_id: 'ask_of_none' },
    );
    expect(await readInvoked()).toEqual(['named SECOND 2', null, 'named SECOND 2']);
  });

  test('matches the first call of the same caller, soon after, of a row that was answered', async () => {
    await insert(makeAsk(NOON, { actor: 'cap:a' }));
    await call(
      { ms: NOON - 1, actor: 'cap:a', key: 'FIRST' },
      { ms: NOON + 1, actor: 'cap:b', key: 'FIRST' },
      { ms: NOON + 2, actor: 'cap:a', key: 'UNHEARD' },
      { ms: NOON + 3, actor: 'cap:a', key: 'FIRST', parent: 'inv_0' },
      { ms: NOON + 4, actor: 'cap:a', key: 'FIRST', ask_id: 'ask_of_another' },
      { ms: NOON + 5, actor: 'cap:a', key: 'THIRD' },
      { ms: NOON + 6, actor: 'cap:a', key: 'FIRST' },
    );
    expect(await readInvoked()).toEqual(['matched THIRD 3']);
    expect(await measure()).toMatchObject({ invoked: 1, named: 0, matched: 1, mrr: 0.3333 });
  });

  test('matches no call after ten minutes, none behind fifty others, and none of an ask by anyone', async () => {
    await insert(
      makeAsk(NOON, { actor: 'cap:late' }),
      makeAsk(NOON, { actor: 'cap:in-time' }),
      makeAsk(NOON, { actor: 'cap:busy' }),
      makeAsk(NOON, { actor: 'anyone' }),
    );
    const others = Array.from({ length: 50 }, (_, index) => ({ ms: NOON + index, actor: 'cap:busy', key: 'OTHER' }));
    await call(
      ...others,
      { ms: NOON + 51, actor: 'cap:busy' },
      { ms: NOON + 10 * MINUTE_MS, actor: 'cap:late' },
      { ms: NOON + 10 * MINUTE_MS - 1, actor: 'cap:in-time' },
      { ms: NOON + 1, actor: 'anyone' },
    );
    expect(await readInvoked()).toEqual([null, 'matched SECOND 2', null, null]);
  });

  test('looks at fifty calls for each ask at the most, whatever the ledger holds', async () => {
    await fillLedger(20_000);
    const asks = Array.from({ length: 200 }, (_, n) => makeAsk(NOON + n, { actor: n % 2 === 0 ? 'owner' : 'cap:1' }));
    await insert(...asks);
    await sql`vacuum (analyze) receipt, ask`.execute(database.store.db);
    await database.store.db.connection().execute(async (db) => {
      const before = await readScans(db);
      await measureAsks(db, { fromMs: NOON, toMs: NOON + DAY_MS });
      const after = await readScans(db);
      expect(after.wholes - before.wholes).toBe(0);
      expect(after.read - before.read).toBeGreaterThan(200);
      expect(after.read - before.read).toBeLessThanOrEqual(200 * 50);
    });
  });

  /** Calls of the owner and of others, one every ten ms, of 200 keys. */
  const fillLedger = (count: number) =>
    sql`insert into receipt (id, trace, key, type, row_version, lane, actor, started_at, finished_at, outcome, status,
        material, input_hash, tokens_in, tokens_out, tokens_cached, cost_usd)
      select 'inv_' || lpad(to_hex(${NOON}::bigint + n * 10), 12, '0') || '7' || lpad(n::text, 19, '0'), 't_' || n,
        'KEY_' || n % 200, 'fn', 1, 'inline', case when n % 3 = 0 then 'owner' else 'cap:' || n % 50 end, now(), now(),
        'succeeded', 'PROVEN_MATERIAL_RESULT', true, '', 0, 0, 0, 0
      from generate_series(1, ${count}::integer) as n`.execute(database.store.db);

  /** How often the ledger was read as a whole, and how many receipts were read by an index. */
  async function readScans(db: Kysely<Database>): Promise<{ wholes: number; read: number }> {
    await sql`select pg_stat_force_next_flush()`.execute(db);
    const { rows } = await sql<{ wholes: number; read: number }>`
      select seq_scan::integer as wholes, idx_tup_fetch::integer as read from pg_stat_user_tables
      where relname = 'receipt'`.execute(db);
    const [scans] = rows;
    if (scans === undefined) throw new Error('there is no ledger');
    return scans;
  }
});
