import { type EchoedRequest, type EchoUpstream, startEchoUpstream } from '@rowcall/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../testing/test-api.js';

const TOKEN = 'tok-4f1d77c0a2';
let api: TestApi;
let upstream: EchoUpstream;

beforeAll(async () => {
  api = await startTestApi({ credentials: { UPSTREAM_TOKEN: TOKEN } });
  upstream = await startEchoUpstream();
  await addRow('IN_PATH', { target: `GET ${upstream.url}/base/$1/end` });
  await addRow('IN_QUERY', { target: `GET ${upstream.url}/q?a=$1&b=2` });
  await addRow('IN_HEADER', { target: `GET ${upstream.url}/h`, headers: { 'X-Value': '$1', 'X-Fixed': 'yes' } });
  await addRow('IN_JSON', { target: `POST ${upstream.url}/j`, content: '# WHAT: J.\n{"to":"$1","text":"$2+","n":1}' });
  await addRow('IN_FORM', { target: `POST ${upstream.url}/f`, content: '# WHAT: F.\nform: a=$1&b=2' });
  await addRow('WITH_TOKEN', { target: `GET ${upstream.url}/t`, auth: 'bearer:UPSTREAM_TOKEN' });
});
afterAll(async () => {
  await api.close();
  await upstream.close();
});

async function addRow(key: string, row: object): Promise<void> {
  const answer = await api.owner.post('/api/directory', {
    key,
    type: 'http',
    content: '# WHAT: Asks the upstream.',
    examples: ['a'],
    ...row,
  });
  expect(answer.status).toBe(201);
}

interface Invoked {
  readonly result: EchoedRequest;
  readonly proof: { readonly invocation_id: string };
}
const invoke = async (key: string, body: string): Promise<Invoked> =>
  (await api.owner.invoke({ key, body })).json<Invoked>();

/** @returns what reached the upstream; undefined when the call was refused, with a receipt and nothing sent. */
async function invokeOrRefuse(key: string, body: string): Promise<EchoedRequest | undefined> {
  const before = upstream.requests.length;
  const answer = await api.owner.invoke({ key, body });
  if (answer.status === 200) return answer.json<Invoked>().result;
  expect(answer.json()).toMatchObject({ status: 400, error: 'bad_template_value', receipt: expect.any(String) });
  expect(upstream.requests.length).toBe(before);
  return undefined;
}

describe('an argument', () => {
  it('that holds the separator arrives whole where the template takes the rest', async () => {
    const { result } = await invoke('IN_JSON', 'ada|x|y||z|');
    expect(JSON.parse(result.body)).toEqual({ to: 'ada', text: 'x|y||z|', n: 1 });
  });

  const HOSTILE = [
    ['a quote', 'a"b'],
    ['a backslash', 'a\\b'],
    ['a break', 'a\nb\r\nX-Injected: 1'],
    ['an emoji', '😀 é'],
    ['an escaped slash', '%2F..%2f'],
    ['a way up', '../../admin'],
    ['a way up alone', '..'],
    ['a dot alone', '.'],
    ['an escaped way up', '%2e%2e'],
    ['a query', 'x?admin=1&b=3#end'],
    ['a host', '//evil.example/x@y:80'],
    ['JSON', '","admin":true,"x":"'],
    ['a template', '$2 {x} {?y*}'],
    ['nothing', ''],
  ] as const;

  it.each(HOSTILE)('that is %s stays one segment of the path, or the call is refused', async (_what, value) => {
    const result = await invokeOrRefuse('IN_PATH', value);
    if (result === undefined) return;
    const segments = result.path.split('/');
    expect(segments.slice(0, 2)).toEqual(['', 'base']);
    expect(segments).toHaveLength(4);
    expect(segments[3]).toBe('end');
    expect(decodeURIComponent(segments[2] ?? '')).toBe(value);
    expect(result.query).toEqual({});
  });

  it.each(HOSTILE)('that is %s stays one value of the query', async (_what, value) => {
    const { result } = await invoke('IN_QUERY', value);
    expect(result.path).toBe('/q');
    expect(result.query).toEqual({ a: value, b: '2' });
  });

  it.each(HOSTILE)('that is %s stays one string of a JSON body', async (_what, value) => {
    const { result } = await invoke('IN_JSON', `${value}|rest`);
    expect(JSON.parse(result.body)).toEqual({ to: value, text: 'rest', n: 1 });
  });

  it.each(HOSTILE)('that is %s stays one field of a form', async (_what, value) => {
    const { result } = await invoke('IN_FORM', value);
    expect([...new URLSearchParams(result.body)]).toEqual([
      ['a', value],
      ['b', '2'],
    ]);
  });

  it.each(HOSTILE)('that is %s stays one header, or the call is refused', async (_what, value) => {
    const result = await invokeOrRefuse('IN_HEADER', value);
    if (result === undefined) return;
    const { headers } = result;
    expect(headers['x-fixed']).toBe('yes');
    expect(headers).not.toHaveProperty('x-injected');
    expect(Buffer.from(String(headers['x-value'] ?? ''), 'latin1').toString('utf8')).toBe(value.trim());
  });
});

describe('a request to an upstream', () => {
  it('carries nothing of the caller: not the key, not a header', async () => {
    await api.owner.invoke(
      { key: 'IN_QUERY', body: 'a' },
      { cookie: 'a=b', 'x-forwarded-for': '1.2.3.4', 'x-own': 'own' },
    );
    const sent = JSON.stringify(upstream.requests.at(-1));
    expect(sent).not.toMatch(/owner-key|authorization|cookie|forwarded|x-own/i);
  });

  it('carries the credential of its row, of which nothing is answered or kept', async () => {
    const answer = await api.owner.invoke({ key: 'WITH_TOKEN', body: '' });
    expect(upstream.requests.at(-1)?.headers.authorization).toBe(`Bearer ${TOKEN}`);
    expect(answer.text).not.toContain(TOKEN);
    const { proof } = answer.json<Invoked>();
    expect((await api.owner.get(`/api/dispatch?receipt=${proof.invocation_id}`)).text).not.toContain(TOKEN);
    const { rows } = await api.context.store.pool.query('select * from receipt_payload where receipt_id = $1', [
      proof.invocation_id,
    ]);
    expect(JSON.stringify(rows)).not.toContain(TOKEN);
    expect(api.log.join('')).not.toContain(TOKEN);
  });

  it('is told with the status of its answer', async () => {
    const answer = await api.owner.invoke({ key: 'IN_QUERY', body: 'a' });
    expect(answer.json()).toMatchObject({ upstream: { status: 200, content_type: 'application/json' } });
  });

  it('that nobody answers is a run that failed, not a refusal', async () => {
    const { url, close } = await startEchoUpstream();
    await close();
    await addRow('NOBODY', { target: `GET ${url}/` });
    const answer = await api.owner.invoke({ key: 'NOBODY', body: '' });
    expect(answer.status).toBe(200);
    expect(answer.json()).toMatchObject({ ok: false, ran: true, error: { code: expect.stringMatching(/^upstream_/) } });
  });
});
