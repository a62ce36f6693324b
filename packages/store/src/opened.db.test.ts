import { makeReceipt, type TestStore, testStore } from '@rowcall/testing';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { findCallState, insertJobs } from './job.js';
import {
  abandonCalls,
  type Beginning,
  beginCalls,
  interruptDeadCalls,
  isUnregistered,
  listOpenCalls,
  type Verdict,
} from './opened.js';
import { deleteProcess, insertProcess } from './process.js';
import { findReceipt, findReceiptPayload, insertReceipts } from './receipt.js';
import { openStore, type Store } from './store.js';
import { openClient, waitForLockWaiter } from './testing/clients.js';
import { makeBeginning, makeClaim, makeInterrupted, mintGrant } from './testing/opened.js';

let database: TestStore;
let store: Store;
let other: pg.Client;

beforeAll(async () => {
  database = await testStore();
  store = database.store;
  other = await openClient(database.url);
});

beforeEach(async () => {
  await other.query('delete from opened; delete from idempotency; delete from job; delete from process');
  await register('here');
});

afterAll(async () => {
  await other.end();
  await database.drop();
});

const register = (id: string) => insertProcess(store.db, { id, lanes: [], concurrency: 0, host: 'host', pid: 1 });
const makeOpen = (beginning: Partial<Beginning> = {}, process = 'here') => makeBeginning(process, beginning);
const begin = async (...beginnings: Beginning[]): Promise<(Verdict['verdict'] | undefined)[]> => {
  const verdicts = await beginCalls(store.pool, beginnings);
  return beginnings.map(({ id }) => verdicts.get(id)?.verdict);
};
const usesOf = async (fingerprint: string) => {
  const { rows } = await other.query(
    'select uses::int, spent_usd::float as spent, window_calls as calls from capability_grant where fingerprint = $1',
    [fingerprint],
  );
  return rows[0];
};
const listOpened = async () => {
  const { rows } = await other.query<{ id: string }>('select id from opened order by id');
  return rows.map(({ id }) => id);
};
const countClaims = async () => {
  const { rows } = await other.query<{ count: number }>('select count(*)::int as count from idempotency');
  return rows[0]?.count;
};
const closing = ({ id }: Beginning, opened: 'fired' | 'unfired' | 'unqueued', receipt = {}) => ({
  ...makeReceipt({ id, ...receipt }),
  opened,
});

describe('the beginning of calls', () => {
  test('opens a call, claims its key and takes from every grant of its chain', async () => {
    const parent = await mintGrant(other, { max_uses: 5, budget_usd: 1 });
    const child = await mintGrant(other, { rate_per_minute: 3 }, { parent });
    const call = makeOpen({ chain: [parent, child], price: 0.25, claim: makeClaim('a') });
    expect(await begin(call)).toEqual(['begun']);
    expect(await listOpened()).toEqual([call.id]);
    expect(await countClaims()).toBe(1);
    expect(await usesOf(parent)).toEqual({ uses: 1, spent: 0.25, calls: 1 });
    expect(await usesOf(child)).toEqual({ uses: 1, spent: 0.25, calls: 1 });
    expect(await findCallState(store.db, call.id)).toBe('running');
  });

  test.each([
    ['a use', { max_uses: 1 }, 'token_exhausted'],
    ['a call in this minute', { rate_per_minute: 1 }, 'rate_limited'],
    ['money', { budget_usd: 1.5 }, 'budget_exhausted'],
  ] as const)(
    'refuses a call for which a grant has %s no more, and that call changes nothing',
    async (_what, terms, verdict) => {
      const parent = await mintGrant(other, terms);
      const child = await mintGrant(other, { max_uses: 9 }, { parent });
      const chain = [parent, child];
      const calls = ['a', 'b'].map((key) => makeOpen({ chain, price: 1, claim: makeClaim(key) }));
      expect((await begin(...calls)).sort()).toEqual(['begun', verdict].sort());
      expect(await usesOf(child)).toMatchObject({ uses: 1 });
      expect(await listOpened()).toHaveLength(1);
      expect(await countClaims()).toBe(1);
    },
  );

  test('says how long a caller has to wait for the next minute, and lets it through then', async () => {
    const grant = await mintGrant(other, { rate_per_minute: 1 });
    const [first, second, third] = [
      makeOpen({ chain: [grant] }),
      makeOpen({ chain: [grant] }),
      makeOpen({ chain: [grant] }),
    ];
    await begin(first as Beginning);
    const verdict = (await beginCalls(store.pool, [second as Beginning])).get(second?.id ?? '');
    expect(verdict?.verdict).toBe('rate_limited');
    expect(verdict?.retryAfter).toBeGreaterThan(50);
    expect(verdict?.retryAfter).toBeLessThanOrEqual(60);
    await other.query(`update capability_grant set window_at = now() - interval '61 seconds' where fingerprint = $1`, [
      grant,
    ]);
    expect(await begin(third as Beginning)).toEqual(['begun']);
    expect(await usesOf(grant)).toMatchObject({ uses: 2, calls: 1 });
  });

  test('refuses a grant that has ended, whatever is left of it, before all else', async () => {
    const expired = await mintGrant(other, { max_uses: 1 }, { expires: '-1 second' });
    const revoked = await mintGrant(other, { max_uses: 1 });
    await other.query('update capability_grant set revoked_at = now(), uses = 1 where fingerprint = $1', [revoked]);
    expect(await begin(makeOpen({ chain: [expired] }), makeOpen({ chain: [revoked] }))).toEqual(['expired', 'revoked']);
  });

  test('begins one of the calls of one batch that have the same key, and the next where the first is refused', async () => {
    const spent = await mintGrant(other, { max_uses: 1 });
    await begin(makeOpen({ chain: [spent] }));
    const refused = makeOpen({ chain: [spent], claim: makeClaim('a') });
    const [second, third] = [makeOpen({ claim: makeClaim('a') }), makeOpen({ claim: makeClaim('a') })];
    expect(await begin(refused, second, third)).toEqual(['token_exhausted', 'begun', 'repeated']);
    const { rows } = await other.query('select invocation_id from idempotency');
    expect(rows).toEqual([{ invocation_id: second.id }]);
  });

  test('keeps the keys of callers apart, and takes nothing for a repetition', async () => {
    const grant = await mintGrant(other, { max_uses: 5 });
    const claims = [makeClaim('a'), makeClaim('a', 'request', 'cap:1'), makeClaim('a', 'another request')];
    const calls = claims.map((claim) => makeOpen({ chain: [grant], claim }));
    expect(await begin(...calls)).toEqual(['begun', 'begun', 'repeated']);
    expect(await usesOf(grant)).toMatchObject({ uses: 2 });
  });

  test('gives N uses N times under contention', async () => {
    const grant = await mintGrant(other, { max_uses: 7 });
    const verdicts = await Promise.all(Array.from({ length: 40 }, () => begin(makeOpen({ chain: [grant] }))));
    expect(verdicts.flat().filter((verdict) => verdict === 'begun')).toHaveLength(7);
    expect(await usesOf(grant)).toMatchObject({ uses: 7 });
  });

  test('does not lock processes up that take the same grants and keys in opposite orders', async () => {
    const grants = await Promise.all(Array.from({ length: 4 }, () => mintGrant(other, { max_uses: 100_000 })));
    const second = openStore({ url: database.url, name: 'second', log: { info() {}, warn() {}, error() {} } as never });
    const round = (number: number, backwards: boolean) => {
      const order = backwards ? [3, 2, 1, 0] : [0, 1, 2, 3];
      return order.map((index) => makeOpen({ chain: [grants[index] ?? ''], claim: makeClaim(`${number}-${index}`) }));
    };
    const begun: string[] = [];
    for (let number = 0; number < 25; number += 1) {
      const batches = await Promise.all([
        beginCalls(store.pool, round(number, false)),
        beginCalls(second.pool, round(number, true)),
      ]);
      for (const batch of batches)
        for (const { verdict } of batch.values()) if (verdict === 'begun') begun.push(verdict);
    }
    await second.close();
    expect(begun).toHaveLength(100);
    expect(await countClaims()).toBe(100);
  });

  test('waits for another process that has the key in hand, and begins where that one goes back', async () => {
    await other.query('begin');
    await other.query(
      `insert into idempotency (actor, key_hash, request_hash, invocation_id) values ('owner', $1, $1, 'inv')`,
      [makeClaim('a').keyHash],
    );
    const waiting = begin(makeOpen({ claim: makeClaim('a') }));
    const observer = await openClient(database.url);
    await waitForLockWaiter(observer);
    await observer.end();
    await other.query('rollback');
    expect(await waiting).toEqual(['begun']);
  });

  test('keeps any input, U+0000 and lone surrogates included', async () => {
    const record = makeInterrupted(JSON.stringify({ body: 'a\0\ud800"\\' }));
    const call = makeOpen({ id: record.receipt.id, opened: { process: 'here', record } });
    await begin(call);
    await abandonCalls(store.db, [call.id]);
    await interruptDeadCalls(store.db, 'here');
    expect((await findReceiptPayload(store.db, call.id))?.request).toBe(record.payload.request);
  });

  test('begins nothing of a process that was declared dead, and says so', async () => {
    await deleteProcess(store.db, 'here');
    const grant = await mintGrant(other, { max_uses: 1 });
    const error = await begin(makeOpen({ chain: [grant], claim: makeClaim('a') })).catch((thrown: unknown) => thrown);
    expect(isUnregistered(error)).toBe(true);
    expect(await usesOf(grant)).toMatchObject({ uses: 0 });
    expect(await countClaims()).toBe(0);
  });
});

describe('the end of an opened call', () => {
  test('puts the receipt in the place of the opened record, in one commit', async () => {
    const call = makeOpen({ claim: makeClaim('a') });
    await begin(call);
    expect(await insertReceipts(store.pool, [closing(call, 'fired'), makeReceipt()])).toEqual([]);
    expect(await listOpened()).toEqual([]);
    expect(await countClaims()).toBe(1);
    expect((await findReceipt(store.db, call.id))?.outcome).toBe('succeeded');
  });

  test('is the same written twice', async () => {
    const call = makeOpen();
    await begin(call);
    const record = closing(call, 'fired');
    await insertReceipts(store.pool, [record]);
    expect(await insertReceipts(store.pool, [record])).toEqual([]);
  });

  test('frees the key of a call of which nothing was run', async () => {
    const call = makeOpen({ claim: makeClaim('a') });
    await begin(call);
    await insertReceipts(store.pool, [closing(call, 'unfired', { outcome: 'denied' })]);
    expect(await listOpened()).toEqual([]);
    expect(await countClaims()).toBe(0);
  });

  test('tells of calls whose process was declared dead meanwhile, whose receipts stay interrupted', async () => {
    const [dead, living] = [makeOpen(), makeOpen()];
    await begin(dead, living);
    await abandonCalls(store.db, [dead.id]);
    await interruptDeadCalls(store.db, 'here');
    const written = await insertReceipts(store.pool, [closing(dead, 'fired'), closing(living, 'fired')]);
    expect(written).toEqual([dead.id]);
    expect((await findReceipt(store.db, dead.id))?.outcome).toBe('interrupted');
    expect((await findReceipt(store.db, living.id))?.outcome).toBe('succeeded');
  });

  test('refuses a call that was not queued, and writes nothing of one that was', async () => {
    const [lost, queued] = [makeOpen({ claim: makeClaim('a') }), makeOpen({ claim: makeClaim('b') })];
    await begin(lost, queued);
    await insertJobs(store.pool, [{ id: queued.id, lane: 'l', effect: 'write', call: '{}', opened: true }]);
    const records = [lost, queued].map((call) => closing(call, 'unqueued', { outcome: 'denied' }));
    expect(await insertReceipts(store.pool, records)).toEqual([]);
    expect((await findReceipt(store.db, lost.id))?.outcome).toBe('denied');
    expect(await findReceipt(store.db, queued.id)).toBeUndefined();
    expect(await findCallState(store.db, queued.id)).toBe('queued');
    expect(await countClaims()).toBe(1);
  });

  test('is not undone by a queueing that comes too late', async () => {
    const call = makeOpen();
    await begin(call);
    await insertReceipts(store.pool, [closing(call, 'unqueued', { outcome: 'denied' })]);
    await insertJobs(store.pool, [
      { id: call.id, lane: 'l', effect: 'write', call: '{}', opened: true },
      { id: 'inv_unopened', lane: 'l', effect: 'read', call: '{}' },
    ]);
    const { rows } = await other.query('select id from job');
    expect(rows).toEqual([{ id: 'inv_unopened' }]);
  });
});

describe('calls whose process died', () => {
  const age = (id: string, column: 'heartbeat_at' | 'beating_since') =>
    other.query(`update process set ${column} = now() - interval '1 minute' where id = $1`, [id]);

  test('are interrupted, once, with what was opened, and keep their key', async () => {
    await register('dead');
    const call = makeOpen({ claim: makeClaim('a') }, 'dead');
    await begin(call);
    await age('here', 'beating_since');
    await age('dead', 'heartbeat_at');
    const ended = await Promise.all([interruptDeadCalls(store.db, 'here'), interruptDeadCalls(store.db, 'here')]);
    expect(ended.flat()).toEqual([call.id]);
    expect(await findReceipt(store.db, call.id)).toMatchObject({
      outcome: 'interrupted',
      error: 'interrupted',
      output_hash: null,
    });
    expect(await findReceiptPayload(store.db, call.id)).toMatchObject({ request: '{"body":"hello"}', result: null });
    expect(await listOpened()).toEqual([]);
    expect(await countClaims()).toBe(1);
  });

  test('are found however many there are', async () => {
    const calls = Array.from({ length: 450 }, () => makeOpen());
    await begin(...calls);
    await deleteProcess(store.db, 'here');
    await register('here');
    expect(await interruptDeadCalls(store.db, 'here')).toHaveLength(450);
  });

  test('are left alone as long as their process lives, or nobody may judge that it does not', async () => {
    await register('alive');
    const call = makeOpen({}, 'alive');
    await begin(call);
    await age('here', 'beating_since');
    expect(await interruptDeadCalls(store.db, 'here')).toEqual([]);
    await age('alive', 'heartbeat_at');
    await other.query(`update process set beating_since = now() where id = 'here'`);
    expect(await interruptDeadCalls(store.db, 'here')).toEqual([]);
    expect(await listOpenCalls(store.db, 'alive')).toEqual([call.id]);
  });

  test('that were opened after they had been refused keep that receipt, and free their key', async () => {
    const call = makeOpen({ claim: makeClaim('a') });
    await insertReceipts(store.pool, [closing(call, 'unfired', { outcome: 'denied' })]);
    await begin(call);
    await abandonCalls(store.db, [call.id]);
    expect(await interruptDeadCalls(store.db, 'here')).toEqual([]);
    expect((await findReceipt(store.db, call.id))?.outcome).toBe('denied');
    expect(await listOpened()).toEqual([]);
    expect(await countClaims()).toBe(0);
  });
});
