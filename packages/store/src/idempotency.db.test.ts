import { makeReceipt, type TestStore, testStore } from '@rowcall/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertApproval } from './approval.js';
import { deleteOldKeys, findKnownRequest, IDEMPOTENCY_DAYS, saveAnswer } from './idempotency.js';
import { insertJobs } from './job.js';
import { type Beginning, beginCalls } from './opened.js';
import { insertProcess } from './process.js';
import { insertReceipts } from './receipt.js';
import type { Store } from './store.js';
import { makeBeginning, makeClaim, sha256 } from './testing/opened.js';

let database: TestStore;
let store: Store;

beforeAll(async () => {
  database = await testStore();
  store = database.store;
  await insertProcess(store.db, { id: 'here', lanes: [], concurrency: 0, host: 'host', pid: 1 });
});
afterAll(() => database.drop());

const claim = async (key: string): Promise<Beginning> => {
  const call = makeBeginning('here', { claim: makeClaim(key) });
  await beginCalls(store.pool, [call]);
  return call;
};
const save = (key: string, invocationId: string, answer: string) =>
  saveAnswer(store.db, { ...makeClaim(key), invocationId, answer: Buffer.from(answer) });

describe('the answer to a request with a key', () => {
  test('is the first that was kept, whoever keeps another later', async () => {
    const { id } = await claim('first');
    expect(await findKnownRequest(store.db, makeClaim('first'))).toEqual({
      requestHash: sha256('request'),
      invocationId: id,
      answer: null,
    });
    const kept = await Promise.all(['a', 'b', 'c'].map((answer) => save('first', id, answer)));
    expect(new Set(kept.map(String)).size).toBe(1);
    expect((await findKnownRequest(store.db, makeClaim('first')))?.answer).toEqual(kept[0]);
  });

  test('is not kept for a call that does not have the key', async () => {
    await claim('taken');
    expect(await save('taken', 'inv_of_another', 'a')).toBeUndefined();
    expect(await save('unknown', 'inv', 'a')).toBeUndefined();
  });

  test('stays when a later receipt says that nothing was run', async () => {
    const call = await claim('answered');
    await save('answered', call.id, 'a');
    await insertReceipts(store.pool, [{ ...makeReceipt({ id: call.id }), opened: 'unfired' }]);
    expect(await findKnownRequest(store.db, makeClaim('answered'))).toMatchObject({ answer: Buffer.from('a') });
  });
});

describe('old keys', () => {
  test('are forgotten, all of them, but not while their calls are open, queued or parked', async () => {
    await store.pool.query('delete from idempotency; delete from opened');
    const [open, queued, parked] = [await claim('open'), await claim('queued'), await claim('parked')];
    await insertJobs(store.pool, [{ id: queued.id, lane: 'l', effect: 'read', call: '{}', opened: true }]);
    const { receipt } = makeReceipt();
    const approval = {
      id: parked.id,
      trace: receipt.trace,
      key: 'PAY',
      actor: 'owner',
      origin: 'owner',
      effect: 'write',
      inputHash: '',
      contractFingerprint: '',
      request: '{}',
      requestRedacted: false,
      call: '{}',
      reason: null,
      onBehalfOf: null,
      expiresAt: Date.now() + 60_000,
    } as const;
    await insertApproval(store.db, approval, 100);
    await store.pool.query(
      `insert into idempotency (actor, key_hash, request_hash, invocation_id)
       select 'owner', encode(sha256(n::text::bytea), 'hex'), encode(sha256('r'), 'hex'), 'inv_' || n
       from generate_series(1, 2500) as n`,
    );
    await store.pool.query(`update idempotency set created_at = now() - $1 * interval '1 day' - interval '1 second'`, [
      IDEMPOTENCY_DAYS,
    ]);
    const young = await claim('young');
    await deleteOldKeys(store.db);
    const { rows } = await store.pool.query('select invocation_id from idempotency order by 1');
    const left = [open, queued, parked, young].map(({ id }) => ({ invocation_id: id }));
    expect(rows).toEqual(left.sort((a, b) => (a.invocation_id < b.invocation_id ? -1 : 1)));
  });
});
