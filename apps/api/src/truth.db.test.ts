import { createHash } from 'node:crypto';
import { startUpstream, type TestUpstream } from '@rowcall/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Killable, startKillableRunner } from './testing/child-process.js';
import type { Answer } from './testing/client.js';
import { startTestApi, type TestApi } from './testing/test-api.js';

const WHAT = { category: 'test', examples: ['a'] };
const CREDENTIAL = 'the-credential-of-the-upstream';

let api: TestApi;
let upstream: TestUpstream;
let runner: Killable;

beforeAll(async () => {
  upstream = await startUpstream((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const status = request.url?.startsWith('/404') ? 404 : 200;
      const body = JSON.stringify({ url: request.url, got: Buffer.concat(chunks).toString(), ü: ['😀', 1e21, null] });
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
    });
  });
  api = await startTestApi({ credentials: { TOKEN: CREDENTIAL } });
  runner = await startKillableRunner(api.databaseUrl);
  const rows = [
    { ...WHAT, key: 'LOOK', type: 'http', target: `GET ${upstream.url}/look?q=$1`, content: '# WHAT: Looks.' },
    { ...WHAT, key: 'GONE', type: 'http', target: `GET ${upstream.url}/404?q=$1`, content: '# WHAT: Looks.' },
    { ...WHAT, key: 'DOWN', type: 'http', target: 'GET http://127.0.0.1:9/', content: '# WHAT: Looks.' },
    { ...WHAT, key: 'SEND', type: 'http', target: `POST ${upstream.url}/s`, content: '# WHAT: Sends.\n{"text": "$1"}' },
    {
      ...WHAT,
      key: 'SECRETLY',
      type: 'http',
      target: `GET ${upstream.url}/s?q=$1`,
      auth: 'bearer:TOKEN',
      content: '# WHAT: Looks.',
    },
    {
      ...WHAT,
      key: 'FAR',
      type: 'http',
      target: `POST ${upstream.url}/far`,
      runner: 'default',
      content: '# WHAT: Sends.\n{"text": "$1"}',
    },
  ];
  for (const row of rows) expect(await api.owner.post('/api/directory', row)).toMatchObject({ status: 201 });
  await vi.waitFor(() => expect(api.context.lanes.live).toContain('default'), 10_000);
});
afterAll(async () => {
  await runner.kill();
  await api.close();
  await upstream.close();
});

const sha256 = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

/** JSON with the members of every object in order (RFC 8785), for the values of this test. */
function toCanonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toCanonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${toCanonical(member)}`).join(',')}}`;
}

interface Written {
  readonly id: string;
  readonly key: string;
  readonly lane: string | null;
  readonly parent: string | null;
  readonly replay_of: string | null;
  readonly outcome: string;
  readonly input_hash: string;
  readonly output_hash: string | null;
  readonly request: string;
  readonly request_redacted: boolean;
  readonly result: string | null;
  readonly result_redacted: boolean;
}

interface Ran {
  readonly result: unknown;
  readonly proof: {
    readonly invocation_id: string;
    readonly fingerprints: { readonly input: string; readonly output: string };
  };
}

/** Holds a proof to what was sent and answered, and fires the call again. */
async function requireTrue(answer: Answer, sent: string): Promise<Answer> {
  expect(answer.status, answer.text).toBe(200);
  const { result, proof } = answer.json<Ran>();
  expect(proof.fingerprints).toMatchObject({ input: sha256(sent), output: sha256(JSON.stringify(result)) });
  const replayed = await api.owner.invoke({ replay: proof.invocation_id, confirm: true });
  expect(replayed.json()).toMatchObject({ proof: { fingerprints: { input: sha256(sent) } } });
  return replayed;
}

function checkInput({ key, request, request_redacted, input_hash }: Written): void {
  const input = JSON.parse(request) as { body: string } | { args: object };
  const hash = sha256('body' in input ? input.body : toCanonical(input.args));
  expect(hash === input_hash, key).toBe(!request_redacted);
}

function checkOutput({ key, outcome, result, result_redacted, output_hash }: Written): void {
  expect(output_hash === null, key).toBe(result === null);
  if (outcome === 'denied') expect(output_hash).toBeNull();
  if (result !== null) expect(sha256(result) === output_hash, key).toBe(!result_redacted);
}

describe('receipts', () => {
  it('hash what went in and what came out of every call, whatever became of it', async () => {
    const minted = await api.owner.post('/api/grants', {
      scope: { keys: ['SEND', 'FAR'] },
      effects: ['write'],
      risk_ceiling: 'high',
      fixed_body: 'fixed ü',
      ttl_seconds: 600,
      max_uses: 0,
      purpose: 'test',
    });
    const bearer = { authorization: `Bearer ${minted.json<{ token: string }>().token}` };
    const bodies = ['', 'a|b', 'ü😀\0\n"\\', 'x'.repeat(10_000)];
    const calls: { body: object; headers?: Record<string, string>; sent?: string }[] = bodies.flatMap((body) => [
      { body: { key: 'ECHO', body }, sent: body },
      { body: { key: 'SEND', body }, sent: body },
      { body: { key: 'FAR', body }, sent: body },
      { body: { key: 'LOOK', body: body.slice(0, 100) }, sent: body.slice(0, 100) },
      { body: { key: 'GONE', body: body.slice(0, 100) } },
      { body: { key: 'DOWN', body } },
      { body: { key: 'NOBODY', body } },
      { body: { key: 'SECRETLY', body: `${body.slice(0, 100)} ${CREDENTIAL}` } },
      { body: { key: 'SEND', body, mode: 'async' } },
      { body: { key: 'SEND', body, mode: 'async', expect_contract: '0'.repeat(64) } },
    ]);
    calls.push(
      { body: { key: 'SEND' }, headers: bearer, sent: 'fixed ü' },
      { body: { key: 'FAR' }, headers: bearer, sent: 'fixed ü' },
      { body: { key: 'SEND', body: 'other' }, headers: bearer },
      { body: { key: 'GONE', args: { b: 1, a: { d: [2, 'ü'], c: null } } } },
      { body: { key: 'OIP_TREE', args: { receipt: 'x' } } },
      { body: { key: 'CAP_EXPLAIN', args: { grant: 'x' } } },
    );
    const answers = await Promise.all(
      calls.map(({ body, headers }) =>
        headers === undefined ? api.owner.invoke(body) : api.anyone.invoke(body, headers),
      ),
    );
    for (const [index, { sent, body }] of calls.entries()) {
      if (sent === undefined) continue;
      const replayed = await requireTrue(answers[index] as Answer, sent);
      expect(replayed.json(), JSON.stringify(body)).toMatchObject({ replay: { verdict: 'same' } });
    }
    const first = await api.owner.invoke({ key: 'SEND', body: 'again' });
    const args = { receipt: first.json<Ran>().proof.invocation_id, confirm: true };
    expect((await api.owner.invoke({ key: 'OIP_REPLAY', args, mode: 'async' })).status).toBe(202);
    // Known as a secret by now: it is cut from what came out as well.
    await api.owner.invoke({ key: 'ECHO', body: CREDENTIAL });
    await vi.waitFor(
      async () => {
        const { rows } = await api.context.store.pool.query('select 1 from job');
        expect(rows).toEqual([]);
      },
      { timeout: 15_000, interval: 50 },
    );

    const { rows } = await api.context.store.pool.query<Written>(
      'select id, key, lane, outcome, parent, replay_of, input_hash, output_hash, p.* from receipt join receipt_payload p on receipt_id = id',
    );
    expect(rows.length).toBeGreaterThan(calls.length);
    for (const written of rows) {
      checkInput(written);
      checkOutput(written);
    }
    const kinds = new Set(rows.map(({ lane, outcome }) => `${lane} ${outcome}`));
    expect([...kinds].sort()).toEqual(['default succeeded', 'inline failed', 'inline succeeded', 'null denied']);
    expect(rows.filter(({ replay_of }) => replay_of === args.receipt)).toMatchObject([
      { outcome: 'succeeded', parent: expect.stringMatching(/^inv_/) },
    ]);
    expect(rows.some(({ request_redacted }) => request_redacted)).toBe(true);
    expect(rows.some(({ result_redacted }) => result_redacted)).toBe(true);
  });
});
