import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../testing/test-api.js';

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
    });
  });
});
