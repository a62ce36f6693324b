import { type EchoUpstream, startEchoUpstream } from '@rowcall/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../testing/test-api.js';

const TOKEN = 'tok-5b8e11f0c9';
let api: TestApi;
let upstream: EchoUpstream;
beforeAll(async () => {
  api = await startTestApi({ credentials: { SHAPE_TOKEN: TOKEN, SHAPE_USER: 'user-7c1d99aa02' } });
  upstream = await startEchoUpstream();
});
afterAll(async () => {
  await api.close();
  await upstream.close();
});

const create = async (key: string, row: object): Promise<void> => {
  const answer = await api.owner.post('/api/directory', {
    key,
    type: 'http',
    content: '# WHAT: T.',
    examples: ['a'],
    ...row,
  });
  expect(answer.status).toBe(201);
};
const shape = (key: string, more: object = { body: 'a' }) => api.owner.invoke({ key, shape: true, ...more });
async function listReceipts(key: string): Promise<object[]> {
  return (await api.context.store.pool.query('select outcome, error from receipt where key = $1', [key])).rows;
}

describe('a shape', () => {
  it('of an fn row is its function and arguments, and leaves no receipt', async () => {
    expect((await shape('UPPER', { body: 'abc' })).json()).toMatchObject({
      ok: true,
      ran: false,
      state: 'shaped',
      key: 'UPPER',
      lane: 'inline',
      effect: 'read',
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
      shape: { function: 'UPPER', arguments: ['abc'] },
      missing: [],
    });
    expect(await listReceipts('UPPER')).toEqual([]);
  });

  it('of an http row is the exact request, which is not sent', async () => {
    const content = '# WHAT: T.\n{"to":"$1","n":1}';
    await create('SENDS', { target: `POST ${upstream.url}/p/$1?q=$1`, headers: { 'X-Own': '$1' }, content });
    const answer = await shape('SENDS', { body: 'a b' });
    expect(answer.json()).toMatchObject({
      effect: 'write',
      shape: { method: 'POST', url: `${upstream.url}/p/a%20b?q=a%20b`, body: '{"to":"a b","n":1}' },
      missing: [],
    });
    expect(answer.text.toLowerCase()).toContain('["x-own","a b"]');
    expect(upstream.requests).toEqual([]);
    expect(await listReceipts('SENDS')).toEqual([]);
  });

  it.each([
    ['bearer:SHAPE_TOKEN', '["authorization","[redacted]"]'],
    ['basic:SHAPE_USER:SHAPE_TOKEN', '["authorization","[redacted]"]'],
    ['query:key=SHAPE_TOKEN', 'key=[SHAPE_TOKEN]'],
    ['header:X-Key=SHAPE_TOKEN', '[SHAPE_TOKEN]'],
  ])('with %s shows its place and holds no form of its value', async (auth, shown) => {
    const key = `WITH_${auth.slice(0, auth.indexOf(':')).toUpperCase()}`;
    await create(key, { target: `GET ${upstream.url}/`, auth });
    const { text } = await shape(key);
    expect(text).toContain(shown);
    const basic = Buffer.from(`user-7c1d99aa02:${TOKEN}`).toString('base64');
    for (const secret of [TOKEN, Buffer.from(TOKEN).toString('base64'), 'user-7c1d99aa02', basic]) {
      expect(text).not.toContain(secret);
      expect(api.log.join('')).not.toContain(secret);
    }
  });

  it('redacts a credential that an argument holds', async () => {
    await create('LEAKS', {
      target: `POST ${upstream.url}/`,
      auth: 'bearer:SHAPE_TOKEN',
      content: '# WHAT: T.\n{"x":"$1"}',
    });
    expect((await shape('LEAKS', { body: TOKEN })).text).not.toContain(TOKEN);
  });

  it('names each variable that is not set', async () => {
    await create('LACKS', { target: `GET ${upstream.url}/`, auth: 'basic:NOT_SET:SHAPE_TOKEN' });
    expect((await shape('LACKS')).json()).toMatchObject({ ok: true, missing: ['NOT_SET'] });
    expect(await listReceipts('LACKS')).toEqual([]);
  });

  it.each([
    ['a contract that changed', 'NOW', { body: '', expect_contract: '0'.repeat(64) }, 409, /^contract_changed/],
    ['a disabled row', 'SHAPE_OFF', { body: 'a' }, 409, /^capability_disabled/],
    ['an unknown row', 'SHAPE_NONE', { body: 'a' }, 404, /^unknown_key/],
    ['arguments that do not fit', 'SHAPE_STRICT', { args: { n: 'x' } }, 400, /^invalid_args/],
  ])('is refused for %s, with a receipt that says so', async (_what, key, more, status, reason) => {
    if (key === 'SHAPE_OFF') await create(key, { target: `GET ${upstream.url}/`, enabled: false });
    if (key === 'SHAPE_STRICT') {
      const input_schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
      await create(key, { target: `GET ${upstream.url}/$n`, input_schema, examples: ['1'] });
    }
    const answer = await shape(key, more);
    expect(answer.json()).toMatchObject({ status, error: expect.stringMatching(reason), receipt: expect.any(String) });
    expect(await listReceipts(key)).toMatchObject([{ outcome: 'denied', error: expect.stringMatching(reason) }]);
  });

  it('is for the owner alone', async () => {
    expect(await api.anyone.invoke({ key: 'NOW', body: '', shape: true })).toMatchObject({ status: 401 });
  });
});
