import { makeReceipt, type TestStore, testStore } from '@rowcall/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  decideApproval,
  findApproval,
  insertApproval,
  listApprovals,
  listExpiredApprovals,
  type NewApproval,
} from './approval.js';
import { findCallState } from './job.js';
import { beginCalls } from './opened.js';
import { insertProcess } from './process.js';
import { insertReceipts } from './receipt.js';
import type { Store } from './store.js';
import { makeBeginning, sha256 } from './testing/opened.js';

let database: TestStore;
let store: Store;

beforeAll(async () => {
  database = await testStore();
  store = database.store;
  await insertProcess(store.db, { id: 'here', lanes: [], concurrency: 0, host: 'host', pid: 1 });
});
afterAll(() => database.drop());

const HOUR_MS = 3_600_000;
const BY = { actor: 'owner', reason: 'because' };

const makeApproval = (approval: Partial<NewApproval> = {}): NewApproval => {
  const { receipt } = makeReceipt();
  return {
    id: receipt.id,
    trace: receipt.trace,
    key: 'PAY',
    actor: 'cap:1',
    origin: approval.actor ?? 'cap:1',
    effect: 'write',
    inputHash: sha256('in'),
    contractFingerprint: sha256('contract'),
    request: '{"body":"[redacted]"}',
    requestRedacted: true,
    call: '{"body":"secret"}',
    reason: null,
    onBehalfOf: null,
    expiresAt: Date.now() + HOUR_MS,
    ...approval,
  };
};
const park = (approval: NewApproval, waitingMax = 100) => insertApproval(store.db, approval, waitingMax);
const decide = (id: string, state: 'approved' | 'denied' | 'expired') =>
  store.db.transaction().execute((tx) => decideApproval(tx, id, { state, by: BY }));
const listEvents = async (id: string) => {
  const { rows } = await store.pool.query(
    `select kind, actor, reason from event where detail ->> 'receipt' = $1 order by id`,
    [id],
  );
  return rows;
};

describe('a parked call', () => {
  test('waits, and takes the place of the opened record', async () => {
    const call = makeBeginning('here');
    await beginCalls(store.pool, [call]);
    expect(await findCallState(store.db, call.id)).toBe('running');
    expect(await park(makeApproval({ id: call.id }))).toBe(true);
    expect(await findCallState(store.db, call.id)).toBe('awaiting_approval');
    const { rows } = await store.pool.query('select id from opened');
    expect(rows).toEqual([]);
    expect(await listEvents(call.id)).toEqual([{ kind: 'APPROVAL_REQUEST', actor: 'cap:1', reason: null }]);
  });

  test('is decided by one of those who decide at the same time, and what went in is forgotten', async () => {
    const approval = makeApproval();
    await park(approval);
    const decided = await Promise.all([
      decide(approval.id, 'approved'),
      decide(approval.id, 'denied'),
      decide(approval.id, 'approved'),
      decide(approval.id, 'expired'),
    ]);
    expect(decided.filter(Boolean)).toHaveLength(1);
    expect(await findApproval(store.db, approval.id)).toMatchObject({
      call: null,
      decided_by: 'owner',
      decision_reason: 'because',
    });
    expect(await listEvents(approval.id)).toHaveLength(2);
  });

  test('is one of no more than its caller may have, however many come together', async () => {
    const actor = 'cap:many';
    const parked = await Promise.all(Array.from({ length: 12 }, () => park(makeApproval({ actor }), 5)));
    expect(parked.filter(Boolean)).toHaveLength(5);
    const [first] = await listApprovals(store.db, { actor, state: 'waiting', limit: 1 });
    await decide(first?.id ?? '', 'denied');
    expect(await park(makeApproval({ actor }), 5)).toBe(true);
    expect(await park(makeApproval({ actor }), 5)).toBe(false);
    expect(await park(makeApproval({ actor: 'cap:another' }), 5)).toBe(true);
  });

  test('counts for all who hold a grant of the same origin', async () => {
    const of = (actor: string, origin: string) => park(makeApproval({ actor, origin }), 3);
    const holders = ['cap:root', 'cap:child', 'cap:root', 'cap:child', 'cap:root', 'cap:child'];
    const parked = await Promise.all(holders.map((actor) => of(actor, 'cap_root')));
    expect(parked.filter(Boolean)).toHaveLength(3);
    expect(await of('cap:other', 'cap_other')).toBe(true);
  });

  test('is to be ended when its time is over, or when it has a receipt already', async () => {
    const [late, young, refused] = [makeApproval({ expiresAt: Date.now() - 1 }), makeApproval(), makeApproval()];
    for (const approval of [late, young, refused]) await park(approval);
    await insertReceipts(store.pool, [makeReceipt({ id: refused.id, outcome: 'denied' })]);
    const listed = await listExpiredApprovals(store.db, 100);
    expect(listed.map(({ id }) => id)).toEqual([late.id, refused.id]);
    await decide(late.id, 'expired');
    expect((await listExpiredApprovals(store.db, 100)).map(({ id }) => id)).toEqual([refused.id]);
  });
});
