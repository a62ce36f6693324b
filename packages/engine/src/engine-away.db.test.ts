import { startUpstream, type TestUpstream } from '@rowcall/testing';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { startTestEngine, type TestEngine } from './testing/engine.js';

describe('the engine', () => {
  let engine: TestEngine;
  let upstream: TestUpstream;
  let arrived: number;

  beforeEach(async () => {
    arrived = 0;
    upstream = await startUpstream(() => {
      arrived += 1;
    });
    engine = await startTestEngine();
    await engine.insert({ key: 'ECHO' });
    await engine.insert({ key: 'HANG', type: 'http', target: `GET ${upstream.url}/` });
  });

  afterEach(async () => {
    await engine.stop();
    await upstream.close();
  });

  test('runs nothing while its rows may be old', async () => {
    engine.parts.catalogue.subscription.onLost?.();
    const before = Date.now();
    const error = await engine.refuse('ECHO');
    expect(error.code).toBe('ledger_unavailable');
    expect(Date.parse(String(error.details.stale_since))).toBeLessThanOrEqual(before);
  });

  test('runs a call that came while its rows may be old, as soon as they are not', async () => {
    engine.parts.catalogue.subscription.onLost?.();
    const call = engine.run('ECHO', { input: { body: 'x' } });
    await engine.parts.catalogue.subscription.onConnected?.();
    expect((await call).receipt.outcome).toBe('succeeded');
  });

  test('ends what still runs at a drain as cancelled, and writes its receipt', async () => {
    const call = engine.run('HANG');
    await vi.waitFor(() => expect(arrived).toBe(1));
    expect(engine.parts.engine.active).toBe(1);
    await engine.parts.drain(0);
    const { receipt } = await call;
    expect((await engine.read(receipt.id)).receipt).toMatchObject({ outcome: 'cancelled', error: 'cancelled' });
    expect(engine.parts.engine.active).toBe(0);
  });

  test('no longer waits at a drain for a lane, and names the receipt that will tell', async () => {
    await engine.insert({ key: 'ON_LANE', runner: 'slow' });
    await engine.observer.pool.query(
      `insert into process (id, lanes, concurrency, host, pid) values ('r', '{slow}', 1, 'host', 1)`,
    );
    await engine.observer.pool.query(`select pg_notify('rowcall_process', '')`);
    await vi.waitFor(() => expect(engine.parts.lanes.live).toEqual(['slow']));
    const refused = engine.refuse('ON_LANE');
    await vi.waitFor(async () => {
      const { rows } = await engine.observer.pool.query('select 1 from job');
      expect(rows).toHaveLength(1);
    });
    engine.parts.engine.abort();
    const error = await refused;
    expect(error.code).toBe('lane_timeout');
    const { rows } = await engine.observer.pool.query('select id from job');
    expect(rows).toEqual([{ id: error.details.receipt }]);
  });
});
