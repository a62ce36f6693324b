import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { findReceipt } from '@rowcall/store';
import { startUpstream, testStore } from '@rowcall/testing';
import { describe, expect, it } from 'vitest';
import { OWNER_KEY, startTestApi } from './testing/test-api.js';

describe('a process that stops', () => {
  it('ends the calls under way with their receipts, and refuses new ones on open connections', async () => {
    const database = await testStore();
    const api = await startTestApi({ databaseUrl: database.url });
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let reached = () => {};
    const arrived = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const upstream = await startUpstream(async (_request, response) => {
      reached();
      await held;
      response.end('"late"');
    });
    const row = {
      key: 'SLOW',
      type: 'http',
      target: `GET ${upstream.url}/`,
      content: '# WHAT: Slow.',
      examples: ['a'],
    };
    await api.owner.post('/api/directory', row);
    const address = await api.listen();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const send = async (body: object) => {
      const headers = { authorization: `Bearer ${OWNER_KEY}`, 'content-type': 'application/json' };
      const sent = request(`${address}/api/dispatch`, { method: 'POST', agent, headers });
      sent.end(JSON.stringify(body));
      const [response] = await once(sent, 'response');
      return json(response);
    };
    const slow = send({ key: 'SLOW', body: '' });
    await arrived;
    const closing = api.close();
    // The one connection is busy: this call goes out on it when the slow one is answered.
    const refused = send({ key: 'ECHO', body: 'a' }).catch((error: Error) => ({ error: error.message }));
    release();
    expect(await slow).toMatchObject({ ok: true, proof: { status: 'PROVEN_MATERIAL_RESULT' } });
    expect(await refused).toMatchObject({
      error: expect.stringMatching(/shutting_down|ECONNREFUSED|ECONNRESET|EPIPE|hang up/),
    });
    await closing;
    const ran = database.store.db.selectFrom('receipt').select('key').where('outcome', '=', 'succeeded');
    expect(await ran.execute()).toEqual([{ key: 'SLOW' }]);
    agent.destroy();
    await upstream.close();
    await database.drop();
  });

  it('cancels a call whose upstream hangs, answers it, and keeps its receipt', async () => {
    const database = await testStore();
    const api = await startTestApi({ databaseUrl: database.url });
    let reached = () => {};
    const arrived = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const upstream = await startUpstream(() => reached());
    const row = {
      key: 'HANG',
      type: 'http',
      target: `GET ${upstream.url}/`,
      content: '# WHAT: Hangs.',
      examples: ['a'],
    };
    await api.owner.post('/api/directory', row);
    const address = await api.listen();
    const headers = { authorization: `Bearer ${OWNER_KEY}`, 'content-type': 'application/json' };
    const hanging = fetch(`${address}/api/dispatch`, { method: 'POST', headers, body: '{"key":"HANG"}' });
    await arrived;
    await api.close(50);
    const answer = (await (await hanging).json()) as {
      ok: boolean;
      error: { code: string };
      proof: { invocation_id: string };
    };
    expect(answer).toMatchObject({ ok: false, error: { code: 'cancelled' } });
    const receipt = await findReceipt(database.store.db, answer.proof.invocation_id);
    expect(receipt?.outcome).toBe('cancelled');
    await upstream.close();
    await database.drop();
  });
});
