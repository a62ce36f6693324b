import { createHash } from 'node:crypto';
import { findReceiptPayload, listLiveLanes } from '@rowcall/store';
import { startEchoUpstream } from '@rowcall/testing';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type HeldUpstream, startHeldUpstream } from './testing/held-upstream.js';
import { type Processes, startProcesses } from './testing/processes.js';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

describe('a runner', () => {
  let processes: Processes;
  let upstream: HeldUpstream;

  beforeEach(async () => {
    upstream = await startHeldUpstream();
    processes = await startProcesses();
    const http = { type: 'http', runner: 'default' } as const;
    await processes.insert({ key: 'ECHO', runner: 'default' });
    await processes.insert({ key: 'READ', ...http, target: `GET ${upstream.url}/read` });
    await processes.insert({ key: 'WRITE', ...http, target: `POST ${upstream.url}/write` });
  });

  afterEach(async () => {
    await processes.end();
    await upstream.close();
  });

  const listRunners = async () => {
    const { rows } = await processes.database.store.pool.query<{ id: string }>('select id from process order by id');
    return rows.map(({ id }) => id);
  };

  describe('runs', () => {
    test('a call that waits for it, and the answer has a committed receipt', async () => {
      await processes.startRunner();
      await processes.untilLive('default');
      const dispatched = await processes.dispatch('ECHO', { input: { body: 'hello' } });
      if (dispatched.kind !== 'finished') throw new Error('the call did not finish');
      const { receipt, resultText } = dispatched.call;
      expect(resultText).toBe('"hello"');
      expect(receipt).toMatchObject({ outcome: 'succeeded', lane: 'default', material: true });
      expect(receipt.input_hash).toBe(sha256('hello'));
      expect(receipt.output_hash).toBe(sha256('"hello"'));
      expect(await processes.untilReceipt(receipt.id)).toEqual(receipt);
    });

    test('a call that was queued before it started', async () => {
      const id = await processes.queue('ECHO', 'early');
      await processes.startRunner();
      expect(await processes.untilReceipt(id)).toMatchObject({ outcome: 'succeeded', lane: 'default' });
      expect(await processes.findJob(id)).toBeUndefined();
    });

    test('no call of a grant that was revoked while it waited, although the runner knew the grant before', async () => {
      const { grants, grantBook, engine } = processes.api;
      const owner = { actor: 'owner', chain: [] };
      const terms = { scope: { keys: ['ECHO'] }, ttl_seconds: 60, max_uses: 0, purpose: 'test' };
      const { token, grant } = await grants.mint(terms, owner, null);
      const chain = (await grantBook.findByToken(token)) ?? [];
      const queue = async () => {
        const request = { key: 'ECHO', input: { body: 'x' }, mode: 'async' } as const;
        const dispatched = await engine.dispatch(request, { actor: 'cap:1', traceparent: null, chain });
        if (dispatched.kind !== 'queued') throw new Error('the call was not queued');
        return dispatched.id;
      };
      await processes.startRunner({ concurrency: 1 });
      expect(await processes.untilReceipt(await queue())).toMatchObject({ outcome: 'succeeded' });
      const held = await processes.queue('READ');
      await upstream.untilRequested('/read', 1);
      const waiting = await queue();
      await grants.revoke(grant.fingerprint, owner, null);
      upstream.letGo('/read');
      await processes.untilReceipt(held);
      expect(await processes.untilReceipt(waiting)).toMatchObject({ outcome: 'denied', error: 'revoked' });
    });

    test('only calls of its lanes', async () => {
      await processes.insert({ key: 'ON_MAC', runner: 'mac' });
      const other = await processes.queue('ON_MAC');
      await processes.startRunner();
      await processes.untilReceipt(await processes.queue('ECHO'));
      expect(await processes.findJob(other)).toEqual({ lease_owner: null, attempts: 0 });
    });

    test('no more calls at once than it has room for, and all of them in the end', async () => {
      const ids = await Promise.all(Array.from({ length: 6 }, () => processes.queue('READ')));
      const { runner } = await processes.startRunner({ concurrency: 2 });
      await upstream.untilRequested('/read', 2);
      expect(runner.running).toBe(2);
      expect(upstream.count('/read')).toBe(2);
      upstream.letGo('/read');
      for (const id of ids) expect((await processes.untilReceipt(id)).outcome).toBe('succeeded');
      expect(upstream.count('/read')).toBe(6);
    });

    test('each of many calls once, shared with another runner', async () => {
      await Promise.all([processes.startRunner(), processes.startRunner()]);
      await processes.untilLive('default');
      const calls = await Promise.all(
        Array.from({ length: 200 }, (_, number) => processes.dispatch('ECHO', { input: { body: `${number}` } })),
      );
      const results = calls.map((dispatched) => (dispatched.kind === 'finished' ? dispatched.call.resultText : ''));
      expect(results).toEqual(Array.from({ length: 200 }, (_, number) => `"${number}"`));
      const { rows } = await processes.database.store.pool.query('select count(*)::int as count from receipt');
      expect(rows).toEqual([{ count: 200 }]);
    });

    test('a row that it has not heard of yet, at the version that was called', async () => {
      await processes.startRunner({ isDeaf: true });
      await processes.untilLive('default');
      await processes.insert({ key: 'FRESH', target: 'UPPER', runner: 'default' });
      const dispatched = await processes.dispatch('FRESH', { input: { body: 'x' } });
      expect(dispatched).toMatchObject({ call: { resultText: '"X"', receipt: { row_version: 1 } } });
    });
  });

  test('keeps nothing of a credential that only it has, though the upstream and the caller say it', async () => {
    const secret = 'l4ne/secret+&"7c1d';
    const echo = await startEchoUpstream();
    const row = { type: 'http', runner: 'default', auth: 'bearer:LANE_TOKEN' } as const;
    await processes.insert({ key: 'ECHOED', ...row, target: `POST ${echo.url}/e`, content: '# WHAT: E.\n{"a":"$1"}' });
    await processes.startRunner({ credentials: { LANE_TOKEN: secret } });
    await processes.untilLive('default');
    const request = { input: { body: `marker ${secret}` }, reason: `because of ${secret}` };
    const dispatched = await processes.dispatch('ECHOED', request);
    expect(echo.requests.at(-1)?.headers.authorization).toBe(`Bearer ${secret}`);
    await echo.close();
    const { pool } = processes.database.store;
    const { rows } = await pool.query('select r::text, p::text as payload from receipt r, receipt_payload p');
    const all = JSON.stringify([dispatched, rows]).replace(/[\\"]/g, '');
    expect(all).toContain('marker [redacted]');
    expect(all).toContain('because of [redacted]');
    for (const form of [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64').slice(0, -2)]) {
      expect(all).not.toContain(form.replace(/[\\"]/g, ''));
    }
  });

  describe('answers a caller that waits', () => {
    test('with the refusal of a call that it cannot run', async () => {
      await processes.insert({
        key: 'AUTHED',
        type: 'http',
        target: `GET ${upstream.url}/a`,
        auth: 'bearer:TOKEN',
        runner: 'default',
      });
      await processes.startRunner();
      await processes.untilLive('default');
      const error = await processes.dispatch('AUTHED').catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: 'credential_missing', param: 'TOKEN' });
      const { details } = error as { details: { receipt: string } };
      expect(await processes.untilReceipt(details.receipt)).toMatchObject({
        outcome: 'denied',
        error: 'credential_missing:TOKEN',
      });
      expect(upstream.count('/a')).toBe(0);
    });

    test('with the outcome of a run that took all the time of its row', async () => {
      await processes.insert({
        key: 'SLOW',
        type: 'http',
        target: `GET ${upstream.url}/s`,
        runner: 'default',
        limits: { timeout_ms: 50 },
      });
      await processes.startRunner();
      await processes.untilLive('default');
      const dispatched = await processes.dispatch('SLOW');
      expect(dispatched).toMatchObject({ call: { receipt: { outcome: 'timed_out', error: 'upstream_timeout' } } });
    });

    test('by lane_timeout when no room is free in time, and the receipt tells later', async () => {
      await processes.insert({ key: 'QUICK', runner: 'default', limits: { timeout_ms: 1 } });
      await processes.startRunner({ concurrency: 1 });
      await processes.untilLive('default');
      await processes.queue('READ');
      await upstream.untilRequested('/read');
      const error = await processes.dispatch('QUICK').catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: 'lane_timeout' });
      upstream.letGo('/read');
      const { details } = error as { details: { receipt: string } };
      expect((await processes.untilReceipt(details.receipt)).outcome).toBe('succeeded');
    });
  });

  describe('at its stop', () => {
    test('waits for calls that end within the grace', async () => {
      const id = await processes.queue('WRITE');
      const { runner } = await processes.startRunner();
      await upstream.untilRequested('/write');
      const stopped = runner.stop(20_000);
      await vi.waitFor(async () => expect(await listLiveLanes(processes.database.store.db)).toEqual([]));
      upstream.letGo('/write');
      await stopped;
      expect((await processes.untilReceipt(id)).outcome).toBe('succeeded');
    });

    test('puts a read back without counting the attempt, and another runner ends it', async () => {
      const id = await processes.queue('READ');
      const { runner } = await processes.startRunner();
      await upstream.untilRequested('/read');
      await runner.stop(0);
      expect(await processes.findJob(id)).toEqual({ lease_owner: null, attempts: 0 });
      upstream.letGo('/read');
      await processes.startRunner();
      expect(await processes.untilReceipt(id)).toMatchObject({ outcome: 'succeeded' });
      expect(upstream.count('/read')).toBe(2);
    });

    test('ends a write as cancelled, and nobody fires it again', async () => {
      const id = await processes.queue('WRITE');
      const { runner } = await processes.startRunner();
      await upstream.untilRequested('/write');
      await runner.stop(0);
      expect(await processes.untilReceipt(id)).toMatchObject({ outcome: 'cancelled', error: 'cancelled' });
      expect(await processes.findJob(id)).toBeUndefined();
      expect(upstream.count('/write')).toBe(1);
    });

    test('takes nothing new, and leaves no trace of itself', async () => {
      const { runner, parts } = await processes.startRunner();
      await runner.stop(0);
      expect(await listRunners()).toEqual([]);
      const queries = vi.spyOn(parts.store.pool, 'query');
      runner.subscription.onNotification('default');
      await runner.subscription.onConnected?.();
      expect(queries).not.toHaveBeenCalled();
    });

    test('does not fail because the database is away', async () => {
      const { runner, parts } = await processes.startRunner();
      await processes.untilReceipt(await processes.queue('ECHO'));
      await parts.store.close();
      await runner.stop(0);
    });
  });

  test('may be started and stopped twice, and is not started after its stop', async () => {
    const { runner } = await processes.startRunner();
    await Promise.all([runner.start(), runner.start()]);
    expect(await listRunners()).toEqual(['runner_1']);
    await Promise.all([runner.stop(0), runner.stop(0)]);
    await runner.stop(0);
    await runner.start();
    expect(await listRunners()).toEqual([]);
  });

  describe('that is declared dead', () => {
    test('has its reads started again and its writes recorded as interrupted, by the runners that live', async () => {
      const [read, write] = await Promise.all([processes.queue('READ'), processes.queue('WRITE')]);
      const { runner } = await processes.startRunner();
      await upstream.untilRequested('/read');
      await upstream.untilRequested('/write');
      await processes.startRunner();
      // To the others it is dead when no runner has the id that holds the leases.
      await processes.database.store.pool.query(`update job set lease_owner = 'killed'`);
      expect(await processes.untilReceipt(write)).toMatchObject({
        outcome: 'interrupted',
        error: 'interrupted',
        lane: 'default',
        type: 'http',
        output_hash: null,
      });
      expect((await findReceiptPayload(processes.database.store.db, write))?.request).toBe('{"body":""}');
      await upstream.untilRequested('/read', 2);
      upstream.letGo('/read');
      upstream.letGo('/write');
      expect((await processes.untilReceipt(read)).outcome).toBe('succeeded');
      // It was not dead, only silent: what it brings too late changes nothing.
      await vi.waitFor(() => expect(runner.running).toBe(0));
      expect((await processes.untilReceipt(write)).outcome).toBe('interrupted');
      expect(upstream.count('/write')).toBe(1);
    });

    test('registers again when it lives, and goes on', async () => {
      const { id } = await processes.startRunner();
      await processes.database.store.pool.query('delete from process where id = $1', [id]);
      await vi.waitFor(async () => expect(await listRunners()).toEqual([id]), { timeout: 10_000, interval: 50 });
      expect((await processes.untilReceipt(await processes.queue('ECHO'))).outcome).toBe('succeeded');
    });
  });
});
