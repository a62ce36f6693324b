import { insertReceipts } from '@rowcall/store';
import { makeReceipt as makeRecord } from '@rowcall/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BASE_URL, startTestApi, type TestApi } from '../testing/test-api.js';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

async function makeReceipt(body: object): Promise<string> {
  const answer = await api.owner.invoke(body);
  const { proof, receipt } = answer.json<{ proof?: { invocation_id: string }; receipt?: string }>();
  return proof?.invocation_id ?? receipt ?? '';
}

describe('GET ?receipt=', () => {
  it('shows the owner what went in, what came out, and the trace as a tree', async () => {
    const id = await makeReceipt({ key: 'ECHO', body: 'in and out' });
    const answer = await api.owner.get(`/api/dispatch?receipt=${id}`);
    expect(answer.json()).toMatchObject({
      state: 'finished',
      receipt: { id, key: 'ECHO', type: 'fn', row_version: 1, lane: 'inline', actor: 'owner', outcome: 'succeeded' },
      payload: {
        request: { body: 'in and out' },
        request_redacted: false,
        result: 'in and out',
        result_redacted: false,
        upstream: null,
      },
      trace: [{ invocation_id: id, key: 'ECHO', outcome: 'succeeded', children: [] }],
      trace_complete: true,
    });
  });

  it('shows calls of calls below the call that made them', async () => {
    const id = await makeReceipt({ key: 'ECHO', body: 'a' });
    await api.context.store.pool.query(
      `insert into receipt select (jsonb_populate_record(receipt,
         jsonb_build_object('id', 'inv_' || repeat('f', 32), 'parent', id, 'step', 1, 'key', 'STEP'))).* from receipt where id = $1`,
      [id],
    );
    const answer = await api.owner.get(`/api/dispatch?receipt=${id}`);
    expect(answer.json()).toMatchObject({ trace: [{ invocation_id: id, children: [{ key: 'STEP', step: 1 }] }] });
  });

  it('says when a trace is longer than what it shows', async () => {
    const trace = `t_${'c'.repeat(32)}`;
    const records = Array.from({ length: 1_001 }, () => makeRecord({ trace }));
    await insertReceipts(api.context.store.ledgerPool, records);
    const answer = await api.owner.get(`/api/dispatch?receipt=${records[0]?.receipt.id}`);
    const { trace: roots, trace_complete } = answer.json<{ trace: object[]; trace_complete: boolean }>();
    expect({ roots: roots.length, trace_complete }).toEqual({ roots: 1_000, trace_complete: false });
  });

  it('is kept nowhere on its way', async () => {
    const id = await makeReceipt({ key: 'ECHO', body: 'a' });
    const answer = await api.owner.get(`/api/dispatch?receipt=${id}`);
    expect(answer.headers['cache-control']).toBe('no-store');
  });

  it('is not for others', async () => {
    const id = await makeReceipt({ key: 'ECHO', body: 'a' });
    expect(await api.anyone.get(`/api/dispatch?receipt=${id}`)).toMatchObject({ status: 401 });
  });

  it('says where a call stands that waits for a runner', async () => {
    const answer = await api.owner.invoke({ key: 'ECHO', body: 'a', mode: 'async' });
    const { invocation_id: id } = answer.json<{ invocation_id: string }>();
    expect((await api.owner.get(`/api/dispatch?receipt=${id}`)).json()).toMatchObject({
      invocation_id: id,
      state: 'queued',
    });
  });

  it('keeps no secret that an argument held', async () => {
    const id = await makeReceipt({ key: 'ECHO', args: { text: 'ghp_0123456789abcdefghijklmnopqrstuvwxyz' } });
    const answer = await api.owner.get(`/api/dispatch?receipt=${id}`);
    expect(answer.text).not.toContain('ghp_0123456789');
    expect(answer.json()).toMatchObject({ payload: { request_redacted: true } });
  });

  it('goes on without its payload when that has expired', async () => {
    const id = await makeReceipt({ key: 'ECHO', body: 'a' });
    await api.context.store.pool.query('delete from receipt_payload where receipt_id = $1', [id]);
    expect((await api.owner.get(`/api/dispatch?receipt=${id}`)).json()).toMatchObject({
      receipt: { id },
      payload: null,
      payload_expired: true,
      verbs: { replay: { unavailable: 'payload_expired' } },
    });
  });

  it('says that a payload is there', async () => {
    const id = await makeReceipt({ key: 'ECHO', body: 'a' });
    expect((await api.owner.get(`/api/dispatch?receipt=${id}`)).json()).toMatchObject({ payload_expired: false });
  });

  it('tells who replayed and who repaired the call, and leads back from there', async () => {
    const id = await makeReceipt({ key: 'ECHO', body: 'a' });
    const replay = makeRecord({ replay_of: id, key: 'ECHO', actor: 'cap:a' });
    const repair = makeRecord({ repairs: id, key: 'OTHER' });
    await insertReceipts(api.context.store.ledgerPool, [replay, repair]);
    const [replayId, repairId] = [replay.receipt.id, repair.receipt.id];
    const first = await api.owner.get(`/api/dispatch?receipt=${id}`);
    expect(first.json()).toMatchObject({
      replayed_by: [
        {
          invocation_id: replayId,
          key: 'ECHO',
          actor: 'cap:a',
          outcome: 'succeeded',
          material: true,
          receipt: `${BASE_URL}/api/dispatch?receipt=${replayId}`,
        },
      ],
      repaired_by: [{ invocation_id: repairId, key: 'OTHER' }],
    });
    const later = await api.owner.get(`/api/dispatch?receipt=${replayId}`);
    expect(later.json()).toMatchObject({
      replayed_by: [],
      links: {
        replay_of: `${BASE_URL}/api/dispatch?receipt=${id}`,
        trace: `${BASE_URL}/api/invocations?trace=${replay.receipt.trace}`,
      },
    });
    const repaired = await api.owner.get(`/api/dispatch?receipt=${repairId}`);
    expect(repaired.json()).toMatchObject({ links: { repairs: `${BASE_URL}/api/dispatch?receipt=${id}` } });
  });

  it('says what to send to fire the call again, and nothing to repair what went well', async () => {
    const id = await makeReceipt({ key: 'ECHO', body: 'a' });
    expect((await api.owner.get(`/api/dispatch?receipt=${id}`)).json()).toMatchObject({
      verbs: { replay: { send: { replay: id } }, repair: { unavailable: 'not_failed' } },
    });
  });

  it('says what to correct and send after a call that was refused', async () => {
    const id = await makeReceipt({ key: 'NO_SUCH_ROW', args: { text: 'a' } });
    expect((await api.owner.get(`/api/dispatch?receipt=${id}`)).json()).toMatchObject({
      verbs: {
        replay: { unavailable: 'unknown_key' },
        repair: { send: { key: 'NO_SUCH_ROW', args: { text: 'a' }, repairs: id } },
      },
    });
  });
});
