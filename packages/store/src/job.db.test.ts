import { randomBytes } from 'node:crypto';
import { silentLog } from '@rowcall/protocol';
import { makeReceipt, type TestStore, testStore } from '@rowcall/testing';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  claimJobs,
  completeJobs,
  DONE_CHANNEL,
  findCallState,
  insertJobs,
  JOB_CHANNEL,
  type NewJob,
  releaseJobs,
  takeOverDeadLeases,
} from './job.js';
import { insertProcess } from './process.js';
import { findReceipt, findReceiptPayload } from './receipt.js';
import { openStore, type Store } from './store.js';
import { openClient, waitForLockWaiter } from './testing/clients.js';

describe('the queue', () => {
  let database: TestStore;
  let store: Store;
  let other: pg.Client;
  let heard: string[];
  let lane: string;

  beforeAll(async () => {
    database = await testStore();
    store = database.store;
    other = await openClient(database.url);
    other.on('notification', ({ channel, payload }) => heard.push(`${channel} ${payload}`));
    await other.query(`listen ${JOB_CHANNEL}; listen ${DONE_CHANNEL}`);
  });

  beforeEach(async () => {
    await other.query('delete from job; delete from process');
    heard = [];
    lane = `lane_${randomBytes(4).toString('hex')}`;
  });

  afterAll(async () => {
    await other.end();
    await database.drop();
  });

  const makeJob = (job: Partial<NewJob> = {}): NewJob => ({
    id: makeReceipt().receipt.id,
    lane,
    effect: 'read',
    call: '{"body":"\\u0000"}',
    ...job,
  });
  const insert = async (...jobs: NewJob[]) => {
    await insertJobs(store.pool, jobs);
    return jobs;
  };
  const claim = (runnerId: string, limit = 50) => claimJobs(store.pool, { runnerId, lanes: [lane], limit });
  const register = (id: string) => insertProcess(store.db, { id, lanes: [lane], concurrency: 1, host: 'host', pid: 1 });
  const untilHeard = (entry: string) => vi.waitFor(() => expect(heard).toContain(entry));

  test('gives a job back as it was put in, and counts the attempt', async () => {
    const [job] = await insert(makeJob({ effect: 'destructive' }));
    expect(await claim('r1')).toEqual([{ ...job, attempts: 1 }]);
  });

  test('wakes the runners of each lane with one notification', async () => {
    const first = makeJob();
    await insert(first, makeJob(), makeJob({ lane: 'mac' }));
    await untilHeard(`${JOB_CHANNEL} ${lane} mac`);
    expect(heard).toHaveLength(1);
  });

  test('takes a job once although it is put in twice', async () => {
    const job = makeJob();
    await insert(job);
    await insert(job);
    expect(await claim('r1')).toHaveLength(1);
  });

  test('gives only jobs of the lanes that are asked for, and no more than are asked for', async () => {
    await insert(makeJob(), makeJob(), makeJob({ lane: 'other' }));
    expect(await claim('r1', 1)).toHaveLength(1);
    expect(await claim('r1')).toHaveLength(1);
    expect(await claim('r1')).toEqual([]);
  });

  test('gives the most urgent first, and of equals the oldest', async () => {
    const ids = ['inv_1', 'inv_2', 'inv_3', 'inv_4', 'inv_5', 'inv_6'];
    await insert(...ids.map((id) => makeJob({ id })).reverse());
    await other.query(
      `update job set priority = 5 where id = 'inv_4'; update job set priority = -1 where id = 'inv_1'`,
    );
    expect((await claim('r1', 4)).map(({ id }) => id)).toEqual(['inv_4', 'inv_2', 'inv_3', 'inv_5']);
    expect((await claim('r1')).map(({ id }) => id)).toEqual(['inv_6', 'inv_1']);
  });

  test('gives none of 500 jobs to two of ten runners that take at the same time', async () => {
    await insert(...Array.from({ length: 500 }, () => makeJob()));
    const crowd = openStore({ url: database.url, name: 'crowd', log: silentLog });
    const takeAll = async (runnerId: string) => {
      const taken: string[] = [];
      for (;;) {
        const jobs = await claimJobs(crowd.pool, { runnerId, lanes: [lane], limit: 7 });
        if (jobs.length === 0) return taken;
        taken.push(...jobs.map(({ id }) => id));
      }
    };
    const holder = await openClient(database.url);
    await holder.query('begin; lock table job');
    const taking = Promise.all(Array.from({ length: 10 }, (_, number) => takeAll(`r${number}`)));
    await waitForLockWaiter(other, 10);
    await holder.query('commit');
    await holder.end();
    const takings = await taking;
    await crowd.close();
    // All ten waited at the lock; which of them the machine lets come first, and how many find nothing left, is chance.
    expect(takings.filter((taken) => taken.length > 0).length).toBeGreaterThan(1);
    expect(new Set(takings.flat()).size).toBe(500);
    expect(takings.flat()).toHaveLength(500);
  });

  test('does not wait for jobs that another claim has locked, but takes others', async () => {
    const [first] = await insert(makeJob({ id: 'inv_1' }), makeJob({ id: 'inv_2' }));
    const holder = await openClient(database.url);
    await holder.query('begin');
    await holder.query('select from job where id = $1 for update', [first?.id]);
    expect((await claim('r1')).map(({ id }) => id)).toEqual(['inv_2']);
    await holder.query('rollback');
    await holder.end();
  });

  test('ends a job by its receipt, and tells its id', async () => {
    const [job] = await insert(makeJob());
    await claim('r1');
    const record = makeReceipt({ id: job?.id ?? '' }, { result: '"\\u0000"' });
    expect(await findCallState(store.db, record.receipt.id)).toBe('running');
    await completeJobs(store.ledgerPool, 'r1', [record]);
    expect(await findReceipt(store.db, record.receipt.id)).toEqual(record.receipt);
    expect(await findReceiptPayload(store.db, record.receipt.id)).toEqual(record.payload);
    expect(await findCallState(store.db, record.receipt.id)).toBeUndefined();
    await untilHeard(`${DONE_CHANNEL} ${record.receipt.id}`);
  });

  test('ends 200 jobs with one notification that names them all', async () => {
    const jobs = await insert(...Array.from({ length: 200 }, () => makeJob()));
    await claim('r1', 200);
    await completeJobs(
      store.ledgerPool,
      'r1',
      jobs.map(({ id }) => makeReceipt({ id })),
    );
    await vi.waitFor(() => expect(heard.filter((entry) => entry.startsWith(DONE_CHANNEL))).toHaveLength(1));
    const ids = heard
      .find((entry) => entry.startsWith(DONE_CHANNEL))
      ?.split(' ')
      .slice(1);
    expect(ids?.sort()).toEqual(jobs.map(({ id }) => id).sort());
  });

  test('keeps the job when its receipt cannot be written', async () => {
    const [job] = await insert(makeJob());
    await claim('r1');
    const poison = makeReceipt({ id: job?.id ?? '', outcome: 'lucky' as 'failed' });
    await expect(completeJobs(store.ledgerPool, 'r1', [poison])).rejects.toMatchObject({ code: '23514' });
    expect(await findCallState(store.db, job?.id ?? '')).toBe('running');
  });

  test('writes nothing for a runner whose lease was lost, and ends the jobs that it still holds', async () => {
    const [lost, held] = await insert(makeJob(), makeJob());
    await claim('r1');
    await other.query(`update job set lease_owner = 'r2' where id = $1`, [lost?.id]);
    const records = [lost, held].map((job) => makeReceipt({ id: job?.id ?? '' }));
    await completeJobs(store.ledgerPool, 'r1', records);
    expect(await findReceipt(store.db, lost?.id ?? '')).toBeUndefined();
    expect(await findReceiptPayload(store.db, lost?.id ?? '')).toBeUndefined();
    expect(await findCallState(store.db, lost?.id ?? '')).toBe('running');
    expect(await findReceipt(store.db, held?.id ?? '')).toBeDefined();
    await untilHeard(`${DONE_CHANNEL} ${held?.id}`);
  });

  test('says nothing when no job ends', async () => {
    await completeJobs(store.ledgerPool, 'r1', []);
    await completeJobs(store.ledgerPool, 'r1', [makeReceipt()]);
    await insert(makeJob());
    await untilHeard(`${JOB_CHANNEL} ${lane}`);
    expect(heard).toEqual([`${JOB_CHANNEL} ${lane}`]);
  });

  test('takes jobs back from a runner that stops, without counting the attempt, and wakes the others', async () => {
    const [mine, theirs] = await insert(makeJob(), makeJob());
    await claim('r1', 1);
    await claim('r2', 1);
    heard = [];
    await releaseJobs(store.db, 'r1', [mine?.id ?? '', theirs?.id ?? '']);
    await untilHeard(`${JOB_CHANNEL} ${lane}`);
    expect(await findCallState(store.db, theirs?.id ?? '')).toBe('running');
    expect(await claim('r3')).toMatchObject([{ id: mine?.id, attempts: 1 }]);
  });

  describe('when a runner is dead', () => {
    const die = (id: string) => other.query('delete from process where id = $1', [id]);

    beforeEach(async () => {
      await register('living');
      await register('dying');
    });

    test('leaves the leases of the living alone', async () => {
      await insert(makeJob(), makeJob({ effect: 'write' }));
      await claim('dying');
      expect(await takeOverDeadLeases(store.db, 'living')).toEqual([]);
      expect(await claim('living')).toEqual([]);
    });

    test('gives its reads to the queue again, up to the third start, and then to the caller', async () => {
      const [job] = await insert(makeJob());
      for (const attempt of [1, 2]) {
        expect(await claim('dying')).toMatchObject([{ attempts: attempt }]);
        await die('dying');
        heard = [];
        expect(await takeOverDeadLeases(store.db, 'living')).toEqual([]);
        await untilHeard(`${JOB_CHANNEL} ${lane}`);
        await register('dying');
      }
      expect(await claim('dying')).toMatchObject([{ attempts: 3 }]);
      await die('dying');
      expect(await takeOverDeadLeases(store.db, 'living')).toMatchObject([{ ...job, attempts: 3 }]);
      expect(await claim('dying')).toEqual([]);
    });

    test.each(['write', 'destructive'] as const)('hands a %s to the caller, which may end it', async (effect) => {
      const [job] = await insert(makeJob({ effect }));
      await claim('dying');
      await die('dying');
      expect(await takeOverDeadLeases(store.db, 'living')).toMatchObject([job ?? {}]);
      const record = makeReceipt({ id: job?.id ?? '', outcome: 'interrupted' });
      await completeJobs(store.ledgerPool, 'living', [record]);
      expect(await findReceipt(store.db, job?.id ?? '')).toMatchObject({ outcome: 'interrupted' });
    });

    test('hands none of its writes to two of those that look at the same time', async () => {
      await register('other');
      for (let round = 0; round < 20; round += 1) {
        const jobs = await insert(...Array.from({ length: 20 }, () => makeJob({ effect: 'write' })));
        await claim('dying');
        await other.query(`update job set lease_owner = 'dead' where lease_owner = 'dying'`);
        const takers = Array.from({ length: 8 }, (_, number) => (number % 2 === 0 ? 'living' : 'other'));
        const takings = await Promise.all(takers.map((taker) => takeOverDeadLeases(store.db, taker)));
        const taken = takings.flat().map(({ id }) => id);
        expect(taken.sort()).toEqual(jobs.map(({ id }) => id).sort());
      }
    });

    test('lets its receipt come too late: what the other runner wrote stays', async () => {
      const [job] = await insert(makeJob({ effect: 'write' }));
      await claim('dying');
      await die('dying');
      await takeOverDeadLeases(store.db, 'living');
      await completeJobs(store.ledgerPool, 'dying', [makeReceipt({ id: job?.id ?? '' })]);
      expect(await findReceipt(store.db, job?.id ?? '')).toBeUndefined();
    });
  });
});
