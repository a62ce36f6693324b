import { type EchoUpstream, startEchoUpstream } from '@rowcall/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from './testing/test-api.js';

let api: TestApi;
let upstream: EchoUpstream;
beforeAll(async () => {
  upstream = await startEchoUpstream();
  api = await startTestApi();
});
afterAll(async () => {
  await api.close();
  await upstream.close();
});

interface Answered {
  readonly result: unknown;
}

/** The result of a call that is expected to run. */
async function call(key: string, input: object): Promise<unknown> {
  const answer = await api.owner.invoke({ key, ...input });
  expect(answer.json()).toMatchObject({ ok: true });
  return answer.json<Answered>().result;
}

const query = async (text: string, values: readonly unknown[]): Promise<Record<string, unknown>[]> =>
  (await api.context.store.pool.query(text, [...values])).rows;

describe('the rows of the built-in functions', () => {
  it.each<[string, object, unknown]>([
    ['LOWER', { body: 'A|B' }, 'a|b'],
    ['TRIM', { body: '  a | b  ' }, 'a | b'],
    ['LENGTH', { body: 'hello' }, 5],
    ['SPLIT', { body: ',|a,b|c' }, ['a', 'b|c']],
    ['SPLIT', { args: { separator: '|', text: 'a|b' } }, ['a', 'b']],
    ['JOIN', { body: ', |["a","b"]' }, 'a, b'],
    ['JOIN', { args: { separator: '|', list: ['a', 1] } }, 'a|1'],
    ['REPLACE', { body: 'cat|dog|a cat | a cat' }, 'a dog | a dog'],
    ['REPLACE', { args: { search: ' ', replacement: '', text: 'a b' } }, 'ab'],
    ['SLICE', { body: '0|5|hello world' }, 'hello'],
    ['SLICE', { body: '-5||hello world' }, 'world'],
    ['BASE64_ENCODE', { body: 'hello' }, 'aGVsbG8='],
    ['BASE64_DECODE', { body: 'aGVsbG8=' }, 'hello'],
    ['URL_ENCODE', { body: 'a b' }, 'a%20b'],
    ['URL_DECODE', { body: 'a%20b' }, 'a b'],
    ['HASH', { body: 'abc' }, 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    ['UUID', {}, expect.stringMatching(/^[0-9a-f-]{36}$/)],
    ['JSON_GET', { body: 'a[0].b|{"a":[{"b":1}]}' }, 1],
    ['JSON_GET', { args: { path: '/a', json: { a: 'x|y' } } }, 'x|y'],
    ['JSON_SET', { args: { path: 'a', value: { b: 1 }, json: '{}' } }, { a: { b: 1 } }],
    ['JSON_SET', { body: '/a/b|2|{"a":{"b":1}}' }, { a: { b: 2 } }],
    ['JSON_MERGE', { body: '{"a":1,"b":2}|{"b":null}' }, { a: 1 }],
    ['JSON_KEYS', { body: '{"a":1,"b":"|"}' }, ['a', 'b']],
    ['JSON_LENGTH', { body: '[1,2,3]' }, 3],
    ['JSON_FORMAT', { body: '{"a":1}' }, '{\n  "a": 1\n}'],
    ['JSON_VALID', { body: '{"a":' }, false],
  ])('%s of %j', async (key, input, expected) => {
    expect(await call(key, input)).toEqual(expected);
  });

  it('run all examples of those that reach nothing outside', async () => {
    for (const { row } of api.context.catalogue.list()) {
      // A grant or a receipt of the example's name is in no new deployment.
      if (row.type !== 'fn' || ['HTTP_FETCH', 'CAP_EXPLAIN', 'OIP_RECEIPT', 'OIP_TREE'].includes(row.key)) continue;
      const answer = await api.owner.post(`/api/directory/${row.key}/test`, {});
      expect(answer.json()).toMatchObject({ key: row.key, ok: true });
    }
  });

  it.each([
    ['write this in lower case', 'LOWER'],
    ['decode base64', 'BASE64_DECODE'],
    ['is this valid json', 'JSON_VALID'],
    ['checksum of a text', 'HASH'],
    ['fetch a web page by its url', 'HTTP_FETCH'],
    ['add a new capability to the directory', 'DIR_ADD'],
    ['delete a row of the directory', 'DIR_DELETE'],
    ['what time is it', 'NOW'],
    ['turn text into upper case', 'UPPER'],
    ['current weather', 'WEATHER_NOW'],
    ['weather forecast', 'WEATHER_FORECAST'],
    ['coordinates of a city', 'GEOCODE'],
    ['how many stars has a repository', 'GITHUB_REPO'],
    ['open issues', 'GITHUB_ISSUES'],
    ['facts about a country', 'COUNTRY'],
    ['who was somebody', 'WIKIPEDIA_SUMMARY'],
    ['convert money', 'EXCHANGE_RATE'],
    ['latest release', 'GITHUB_RELEASE'],
    ['facts about an npm package', 'NPM_PACKAGE'],
    ['public holidays in a year', 'PUBLIC_HOLIDAYS'],
  ])('are found: %s', async (question, key) => {
    const answer = await api.anyone.get(`/api/dispatch?ask=${encodeURIComponent(question)}`);
    expect(answer.json<{ best: { key: string } | null }>().best?.key).toBe(key);
  });

  it('are shaped with their arguments, and nothing fires', async () => {
    const answer = await api.owner.invoke({ key: 'DIR_DELETE', body: 'ECHO', shape: true });
    expect(answer.json()).toMatchObject({
      ran: false,
      effect: 'destructive',
      shape: { function: 'DIR_DELETE', arguments: ['ECHO'] },
    });
    expect((await api.anyone.get('/api/dispatch?key=ECHO')).status).toBe(200);
  });
});

describe('HTTP_FETCH', () => {
  it('reads an address, and sends no credential', async () => {
    const fetched = await call('HTTP_FETCH', { body: `${upstream.url}/a?b=1` });
    expect(fetched).toMatchObject({
      status: 200,
      content_type: 'application/json',
      body: { method: 'GET', path: '/a' },
    });
    expect(Object.keys(upstream.requests.at(-1)?.headers ?? {})).not.toContain('authorization');
  });

  it('asks by HEAD as well, and by nothing else', async () => {
    expect(await call('HTTP_FETCH', { body: `${upstream.url}/|head` })).toMatchObject({ status: 200, body: '' });
    expect(upstream.requests.at(-1)?.method).toBe('HEAD');
    const refused = await api.owner.invoke({ key: 'HTTP_FETCH', body: `${upstream.url}/|POST` });
    expect(refused.json()).toMatchObject({ status: 400, error: 'invalid_args' });
  });

  it.each(['file:///etc/passwd', 'http://user:pass@127.0.0.1/', 'not a url', ''])('refuses %j', async (body) => {
    const refused = await api.owner.invoke({ key: 'HTTP_FETCH', body });
    expect(refused.json()).toMatchObject({ status: 400, error: 'invalid_args' });
  });

  it.each(['http://169.254.169.254/latest/meta-data/', 'http://10.0.0.1/', 'http://[fe80::1]/', 'http://0x0a000001/'])(
    'does not reach %s',
    async (body) => {
      const answer = await api.owner.invoke({ key: 'HTTP_FETCH', body });
      expect(answer.json()).toMatchObject({ ok: false, result: null, error: { code: 'address_refused' } });
    },
  );

  it('keeps to the limits of its row', async () => {
    await call('DIR_PATCH', { args: { key: 'HTTP_FETCH', limits: { max_response_bytes: 10 } } });
    const fetched = await call('HTTP_FETCH', { body: upstream.url });
    expect(fetched).toMatchObject({ truncated: true, body: expect.stringMatching(/^.{10}$/) });
  });
});

const ROW = { type: 'fn', target: 'ECHO', content: '# WHAT: Echo.', examples: ['a'] };

describe('DIR_ADD', () => {
  it('adds a row that can be called at once, by the name and for the reason of the caller', async () => {
    const answer = await api.owner.invoke({ key: 'DIR_ADD', args: { key: 'MADE', ...ROW }, reason: 'wanted' });
    expect(answer.json()).toMatchObject({ ok: true, result: { key: 'MADE', version: 1, source: 'manual' } });
    expect(await call('MADE', { body: 'hi' })).toBe('hi');
    const [version] = await query(`select actor, reason from directory_version where key = $1`, ['MADE']);
    expect(version).toEqual({ actor: 'owner', reason: 'wanted' });
    const [event] = await query(`select kind, actor, reason from event where key = $1`, ['MADE']);
    expect(event).toEqual({ kind: 'DIRECTORY_MUTATE', actor: 'owner', reason: 'wanted' });
  });

  it('carries the name of whoever calls', async () => {
    const request = { key: 'DIR_ADD', input: { args: { key: 'BY_AGENT', ...ROW } }, mode: 'sync' as const };
    await api.context.engine.dispatch(request, { actor: 'cap:0123', traceparent: null, chain: [] });
    const [version] = await query(`select actor from directory_version where key = $1`, ['BY_AGENT']);
    expect(version).toEqual({ actor: 'cap:0123' });
    const [event] = await query(`select actor from event where key = $1`, ['BY_AGENT']);
    expect(event).toEqual({ actor: 'cap:0123' });
  });

  it('takes a body that is the JSON of a row', async () => {
    const body = JSON.stringify({ key: 'FROM_TEXT', ...ROW, content: '# WHAT: One | two.' });
    expect(await call('DIR_ADD', { body })).toMatchObject({ key: 'FROM_TEXT', content: '# WHAT: One | two.' });
  });

  it('keeps the order in which a schema names its properties', async () => {
    const input_schema = { type: 'object', properties: { zz: { type: 'string' }, a: { type: 'string' } } };
    const row = { ...ROW, key: 'ORDERED', input_schema, content: '# WHAT: Echo.\n["$zz $a"]', examples: ['1|2'] };
    await call('DIR_ADD', { args: row });
    expect(await call('ORDERED', { body: 'x|y' })).toBe('x y');
  });

  it.each([
    ['a row that breaks hygiene', { key: 'BARE', type: 'fn', target: 'ECHO' }, 422, 'hygiene_refused'],
    ['a function that is not here', { key: 'NO_FN', ...ROW, target: 'NOT_HERE' }, 422, 'hygiene_refused'],
    ['a column that there is not', { key: 'ODD', ...ROW, colour: 'red' }, 400, 'invalid_row'],
    ['a key that exists', { key: 'NOW', ...ROW }, 409, 'key_exists'],
    ['a member that reaches a prototype', '{"key":"P","type":"fn","headers":{"__proto__":"x"}}', 400, 'invalid_json'],
  ])('refuses %s with a receipt, and changes nothing', async (_what, row, status, error) => {
    const before = await query('select count(*) from directory_version', []);
    const input = typeof row === 'string' ? { body: row } : { args: row };
    const answer = await api.owner.invoke({ key: 'DIR_ADD', ...input });
    expect(answer.json()).toMatchObject({ status, error, receipt: expect.stringMatching(/^inv_/) });
    expect(await query('select count(*) from directory_version', [])).toEqual(before);
  });

  it('lists every rule that a row breaks and how to mend it', async () => {
    const answer = await api.owner.invoke({ key: 'DIR_ADD', args: { key: 'BARE', type: 'fn', target: 'ECHO' } });
    const { violations } = answer.json<{ violations: { code: string; fix: string }[] }>();
    expect(violations.map(({ code }) => code)).toEqual(['missing_description', 'keyless_missing_examples']);
  });
});

describe('DIR_GET and DIR_SEARCH', () => {
  it('give the whole row, and the rows that fit', async () => {
    const { result } = (await api.owner.invoke({ key: 'DIR_GET', body: 'NOW' })).json<Answered>();
    expect(result).toEqual((await api.owner.get('/api/directory/NOW')).json());
    const found = await call('DIR_SEARCH', { body: '2|current weather' });
    expect(found).toHaveLength(2);
    expect(found).toMatchObject([{ key: 'WEATHER_NOW', effect: 'read', risk: 'low', score: expect.any(Number) }, {}]);
  });

  it('say which keys were probably meant', async () => {
    const answer = await api.owner.invoke({ key: 'DIR_GET', body: 'NWO' });
    expect(answer.json()).toMatchObject({ status: 404, error: 'unknown_key', did_you_mean: ['NOW'] });
  });
});

describe('DIR_PATCH and DIR_DELETE', () => {
  it('change a row, only at the version that the caller saw', async () => {
    await call('DIR_ADD', { args: { key: 'CHANGING', ...ROW } });
    expect(await call('DIR_PATCH', { args: { key: 'CHANGING', seq: 7, if_match: 1 } })).toMatchObject({
      seq: 7,
      version: 2,
      examples: ['a'],
    });
    const stale = await api.owner.invoke({ key: 'DIR_PATCH', args: { key: 'CHANGING', seq: 8, if_match: 1 } });
    expect(stale.json()).toMatchObject({ status: 412, error: 'version_mismatch' });
    const staleDelete = await api.owner.invoke({ key: 'DIR_DELETE', body: 'CHANGING|1' });
    expect(staleDelete.json()).toMatchObject({ status: 412, error: 'version_mismatch' });
    expect((await api.owner.get('/api/directory/CHANGING')).json()).toMatchObject({ seq: 7, version: 2 });
    expect(await call('DIR_DELETE', { body: 'CHANGING|2' })).toEqual({ key: 'CHANGING', deleted: true, version: 3 });
    expect((await api.owner.invoke({ key: 'CHANGING' })).json()).toMatchObject({ error: 'unknown_key' });
    const history = await query(`select version, deleted from directory_version where key = $1 order by 1`, [
      'CHANGING',
    ]);
    expect(history.map(({ deleted }) => deleted)).toEqual([false, false, true]);
  });

  it.each([
    ['DIR_PATCH', { args: { key: 'NOW', content: '' } }, 422, 'hygiene_refused'],
    ['DIR_PATCH', { args: { key: 'NOW', key2: 1 } }, 400, 'invalid_row'],
    ['DIR_PATCH', { args: { key: 'NWO', seq: 1 } }, 404, 'unknown_key'],
    ['DIR_PATCH', { args: { key: 'NOW' } }, 400, 'invalid_args'],
    ['DIR_PATCH', { args: { key: 'NOW', seq: 1, if_match: 'x' } }, 400, 'invalid_args'],
    ['DIR_DELETE', { body: 'not a key' }, 404, 'unknown_key'],
    ['DIR_DELETE', { body: '' }, 400, 'invalid_args'],
  ])('%s of %j is refused', async (key, input, status, error) => {
    expect((await api.owner.invoke({ key, ...input })).json()).toMatchObject({ status, error });
  });
});
