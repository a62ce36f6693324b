import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../testing/test-api.js';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

interface Invoked {
  readonly trace: string;
  readonly proof: { readonly invocation_id: string };
}

describe('the four steps', () => {
  it('lead from a question to the row that answers it, with the call ready to send', async () => {
    const answer = await api.anyone.get('/api/dispatch?ask=what+time+is+it');
    expect(answer.status).toBe(200);
    expect(answer.json()).toMatchObject({
      best: { key: 'NOW', contract: { key: 'NOW' }, send: { key: 'NOW', body: '' } },
    });
  });

  it('give a contract to a caller without a credential', async () => {
    const answer = await api.anyone.get('/api/dispatch?key=NOW');
    expect(answer.status).toBe(200);
    expect(answer.json()).toMatchObject({ key: 'NOW', call: { method: 'POST', path: '/api/dispatch' } });
  });

  it('run a row and answer with its result and proof', async () => {
    const answer = await api.owner.invoke({ key: 'NOW', body: '' });
    expect(answer.status).toBe(200);
    expect(answer.headers['cache-control']).toBe('no-store');
    const { invocation_id } = answer.json<Invoked>().proof;
    expect(answer.json()).toEqual({
      ok: true,
      ran: true,
      trace: expect.stringMatching(/^t_[0-9a-f]{32}$/),
      result: {
        now: expect.any(String),
        today: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
        time: expect.any(String),
        zone: 'Europe/Oslo',
        iso: expect.any(String),
      },
      proof: {
        ok: true,
        did: 'succeeded: NOW (fn, version 1) on inline',
        invocation_id: expect.stringMatching(/^inv_[0-9a-f]{32}$/),
        status: 'PROVEN_MATERIAL_RESULT',
        fingerprints: {
          algorithm: 'SHA-256',
          input: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
          output: expect.stringMatching(/^[0-9a-f]{64}$/),
          contract: expect.stringMatching(/^[0-9a-f]{64}$/),
        },
        confirm: `http://127.0.0.1:8787/api/dispatch?confirm=${invocation_id}`,
        receipt: `http://127.0.0.1:8787/api/dispatch?receipt=${invocation_id}`,
        public_receipt: `http://127.0.0.1:8787/receipt/${invocation_id}`,
      },
      cost: { ms: expect.any(Number), tokens_in: 0, tokens_out: 0, tokens_cached: 0, usd: 0 },
      links: { contract: 'http://127.0.0.1:8787/api/dispatch?key=NOW' },
    });
  });

  it('prove the call to anyone, without what went in or came out', async () => {
    const invoked = (await api.owner.invoke({ key: 'ECHO', body: 'a private word' })).json<Invoked>();
    const answer = await api.anyone.get(`/api/dispatch?confirm=${invoked.proof.invocation_id}`);
    expect(answer.status).toBe(200);
    expect(answer.json()).toMatchObject({
      confirmed: true,
      state: 'finished',
      key: 'ECHO',
      actor: 'owner',
      outcome: 'succeeded',
      status: 'PROVEN_MATERIAL_RESULT',
      lineage: { trace: invoked.trace, parent: null },
    });
    expect(answer.text).not.toContain('private');
  });
});

describe('an asynchronous call', () => {
  it.each([
    ['mode', { key: 'ECHO', body: 'later', mode: 'async' }, {}],
    ['Prefer (RFC 7240)', { key: 'ECHO', body: 'later' }, { prefer: 'respond-async, wait=1' }],
  ])('asked for by %s is queued and answered at once with the address of its receipt', async (_by, body, headers) => {
    const answer = await api.owner.invoke(body, headers);
    expect(answer.status).toBe(202);
    const { invocation_id } = answer.json<{ invocation_id: string }>();
    expect(answer.headers.location).toBe(`http://127.0.0.1:8787/api/dispatch?receipt=${invocation_id}`);
    expect(answer.json()).toMatchObject({ ok: true, ran: false, state: 'queued', lane: 'default' });
    const confirmation = await api.anyone.get(`/api/dispatch?confirm=${invocation_id}`);
    expect(confirmation.json()).toMatchObject({ confirmed: false, state: 'queued', invocation_id });
  });

  it('is refused at once when it could never run', async () => {
    const answer = await api.owner.invoke({ key: 'NWO', mode: 'async' });
    expect(answer.status).toBe(404);
    expect(answer.json()).toMatchObject({ error: 'unknown_key', did_you_mean: ['NOW'] });
  });

  it('waits in vain for a lane without a runner only when it is synchronous', async () => {
    const row = {
      key: 'FAR_ECHO',
      type: 'fn',
      target: 'ECHO',
      content: '# WHAT: Echo.',
      examples: ['a'],
      runner: 'mac',
    };
    expect((await api.owner.post('/api/directory', row)).status).toBe(201);
    const answer = await api.owner.invoke({ key: 'FAR_ECHO', body: 'a' });
    expect(answer.status).toBe(503);
    expect(answer.json()).toMatchObject({ error: 'lane_unavailable:mac', receipt: expect.stringMatching(/^inv_/) });
  });
});
