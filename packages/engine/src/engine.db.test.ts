import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startTestEngine, type TestEngine } from './testing/engine.js';

describe('the engine', () => {
  let engine: TestEngine;

  beforeAll(async () => {
    engine = await startTestEngine();
    await engine.insert({ key: 'ECHO', content: '# WHAT: Gives back.\n["$1+"]' });
    await engine.insert({ key: 'DISABLED', enabled: false });
  });

  afterAll(() => engine.stop());

  describe('queues', () => {
    test('an asynchronous call although no runner is there, and answers at once', async () => {
      const queued = await engine.parts.engine.dispatch(
        { key: 'ECHO', input: { body: 'later' }, mode: 'async' },
        { actor: 'cap:1', traceparent: '00-1-2-03', chain: [] },
      );
      expect(queued).toMatchObject({ kind: 'queued', lane: 'default' });
      if (queued.kind !== 'queued') throw new Error('not queued');
      const { rows } = await engine.observer.pool.query('select * from job where id = $1', [queued.id]);
      expect(rows).toMatchObject([{ lane: 'default', effect: 'read', lease_owner: null, attempts: 0 }]);
      expect(JSON.parse(rows[0].call)).toMatchObject({
        id: queued.id,
        trace: queued.trace,
        key: 'ECHO',
        input: { body: 'later' },
        actor: 'cap:1',
        traceparent: '00-1-2-03',
        rowVersion: 1,
      });
    });

    test('no asynchronous call that would be refused', async () => {
      const error = await engine.refuse('DISABLED', { mode: 'async' });
      expect(error.code).toBe('capability_disabled');
      expect((await engine.read(error.details.receipt)).receipt.outcome).toBe('denied');
    });

    test('a burst of calls in few statements', async () => {
      const insertions = vi.spyOn(engine.parts.store.pool, 'query');
      const calls = Array.from({ length: 200 }, () =>
        engine.parts.engine.dispatch(
          { key: 'ECHO', input: { body: '' }, mode: 'async' },
          { actor: 'owner', traceparent: null, chain: [] },
        ),
      );
      await Promise.all(calls);
      expect(insertions.mock.calls.length).toBeLessThanOrEqual(4);
      insertions.mockRestore();
    });
  });

  test('answers nothing before the receipt is committed', async () => {
    const holder = await engine.observer.pool.connect();
    await holder.query('begin; lock table receipt in share mode');
    let isAnswered = false;
    const answered = engine.run('ECHO', { input: { body: 'held' } }).then((call) => {
      isAnswered = true;
      return call;
    });
    await vi.waitFor(async () => {
      const { rows } = await engine.observer.pool.query(
        `select 1 from pg_stat_activity
         where datname = current_database() and application_name = 'test-engine-ledger' and wait_event_type = 'Lock'`,
      );
      expect(rows).toHaveLength(1);
    });
    expect(isAnswered).toBe(false);
    await holder.query('commit');
    holder.release();
    await engine.read((await answered).receipt.id);
  });

  test('commits the receipt of every one of many concurrent calls, under an id of its own', async () => {
    const calls = await Promise.all(
      Array.from({ length: 300 }, (_, number) => engine.run('ECHO', { input: { body: `call ${number}` } })),
    );
    const ids = calls.map(({ receipt }) => receipt.id);
    expect(new Set(ids).size).toBe(300);
    const { rows } = await engine.observer.pool.query<{ count: number }>(
      'select count(*)::int as count from receipt join receipt_payload on receipt_id = id where id = any($1)',
      [ids],
    );
    expect(rows[0]?.count).toBe(300);
  });
});
