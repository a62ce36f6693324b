import { type EchoUpstream, startEchoUpstream } from '@rowcall/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../../testing/test-api.js';

const TOKEN = 'tok-91c2d7aa05';
let api: TestApi;
let upstream: EchoUpstream;
beforeAll(async () => {
  api = await startTestApi({ credentials: { SET_TOKEN: TOKEN } });
  upstream = await startEchoUpstream();
});
afterAll(async () => {
  await api.close();
  await upstream.close();
});

const create = async (key: string, row: object): Promise<void> => {
  const answer = await api.owner.post('/api/directory', { key, content: '# WHAT: T.', ...row });
  expect(answer.status).toBe(201);
};
interface Tested {
  readonly ok: boolean;
  readonly examples: readonly { readonly example: string; readonly invocation_id?: string }[];
}
const test = async (key: string): Promise<Tested> =>
  (await api.owner.post(`/api/directory/${key}/test`, {})).json<Tested>();
async function countReceipts(key: string): Promise<number> {
  const { rows } = await api.context.store.pool.query('select id from receipt where key = $1', [key]);
  return rows.length;
}

describe('the test of a row', () => {
  it('that reads runs each example once, of the column and of EX lines, with receipts that say why', async () => {
    const content = '# WHAT: T.\n# EX: [READS]b[/READS]\n# EX: [READS]a[/READS]';
    await create('READS', { type: 'fn', target: 'ECHO', content, examples: ['a'] });
    const tested = await test('READS');
    expect(tested).toMatchObject({ key: 'READS', effect: 'read', ok: true });
    expect(tested.examples).toMatchObject([
      { example: 'a', ok: true, material: true, invocation_id: expect.any(String) },
      { example: 'b', ok: true, material: true, invocation_id: expect.any(String) },
    ]);
    const receipt = await api.owner.get(`/api/dispatch?receipt=${tested.examples[1]?.invocation_id}`);
    expect(receipt.json()).toMatchObject({ receipt: { key: 'READS', reason: 'test', outcome: 'succeeded' } });
  });

  it.each([
    ['writes', { target: 'POST' }],
    ['destroys', { target: 'GET', effect: 'destructive' }],
    ['says that it writes', { target: 'GET', effect: 'write' }],
  ])('that %s sends nothing, and shows what it would send', async (what, { target, ...more }) => {
    const key = `NEVER_${what.replace(/\W/g, '_').toUpperCase()}`;
    const auth = 'bearer:SET_TOKEN';
    await create(key, { type: 'http', target: `${target} ${upstream.url}/$1`, auth, examples: ['a', 'b'], ...more });
    const answer = await api.owner.post(`/api/directory/${key}/test`, {});
    expect(answer.json<Tested>().examples).toMatchObject([
      { example: 'a', ok: true, shape: { url: `${upstream.url}/a` }, missing: [] },
      { example: 'b', ok: true, shape: { url: `${upstream.url}/b` }, missing: [] },
    ]);
    expect(answer.text).not.toContain(TOKEN);
    expect(upstream.requests).toEqual([]);
    expect(await countReceipts(key)).toBe(0);
  });

  it('tells what is missing and what fails, example by example', async () => {
    await create('LACKS', { type: 'http', target: `POST ${upstream.url}/`, auth: 'bearer:NOT_SET', examples: ['a'] });
    expect(await test('LACKS')).toMatchObject({ ok: false, examples: [{ ok: false, missing: ['NOT_SET'] }] });
    await create('FAILS', { type: 'http', target: `GET ${upstream.url}/`, auth: 'bearer:NOT_SET', examples: ['a'] });
    expect(await test('FAILS')).toMatchObject({
      ok: false,
      examples: [{ ok: false, invocation_id: expect.any(String), error: { code: 'credential_missing:NOT_SET' } }],
    });
  });

  it('runs 20 examples at the most', async () => {
    const examples = Array.from({ length: 30 }, (_, index) => `e${index}`);
    await create('MANY', { type: 'fn', target: 'ECHO', examples });
    expect((await test('MANY')).examples).toHaveLength(20);
    expect(await countReceipts('MANY')).toBe(20);
  });

  it('that is not there is not found', async () => {
    expect(await api.owner.post('/api/directory/NEVER_WAS/test', {})).toMatchObject({ status: 404 });
  });
});
