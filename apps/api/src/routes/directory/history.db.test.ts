import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importLines, makeLine } from '../../testing/import.js';
import { startTestApi, type TestApi } from '../../testing/test-api.js';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const create = async (key: string, more: object = {}): Promise<void> => {
  expect(await api.owner.post('/api/directory', makeLine(key, more))).toMatchObject({ status: 201 });
};
const patch = (key: string, body: object) => api.owner.send('PATCH', `/api/directory/${key}`, { body });
const remove = (key: string) => api.owner.send('DELETE', `/api/directory/${key}`);
const restore = (key: string, version: number, headers = {}) =>
  api.owner.send('POST', `/api/directory/${key}/versions/${version}/restore`, { headers });
const read = (url: string) => api.owner.get(`/api/directory/${url}`);
const fingerprintOf = (key: string) => api.context.catalogue.find(key)?.fingerprint;

describe('an export', () => {
  it('that is imported where its rows are gone gives the same rows and fingerprints', async () => {
    await create('KEPT_1', { category: 'kept', input_schema: { properties: { b: {}, a: { type: 'string' } } } });
    await create('KEPT_2', { category: 'kept', headers: null, limits: { timeout_ms: 5 }, pinned_for: ['é "x"\n'] });
    await create('KEPT_3', { category: 'kept', includes: ['KEPT_1'], content: '# WHAT: E.\r\n["$1", "😀\\u2028"]' });
    const before = await api.owner.get('/api/directory:export?category=kept');
    expect(before.headers['content-type']).toBe('application/x-ndjson; charset=utf-8');
    const keys = ['KEPT_1', 'KEPT_2', 'KEPT_3'];
    const fingerprints = keys.map(fingerprintOf);
    for (const key of keys) await remove(key);
    expect((await api.owner.get('/api/directory:export?category=kept')).text).toBe('');
    expect(await importLines(api.owner, [before.text])).toMatchObject({ lines: 3, created: 3 });
    expect((await api.owner.get('/api/directory:export?category=kept')).text).toBe(before.text);
    expect(keys.map(fingerprintOf)).toEqual(fingerprints);
  });

  it('of all rows is taken back whole, with nothing to change', async () => {
    const { text } = await api.owner.get('/api/directory:export');
    const rows = text.trim().split('\n').length;
    expect(rows).toBe(api.context.catalogue.counts.rows);
    expect(await importLines(api.owner, [text])).toMatchObject({ unchanged: rows, created: 0, changed: 0, failed: 0 });
  });

  it('can be narrowed by source', async () => {
    await create('FROM_THERE', { source: 'openapi:there' });
    const { text } = await api.owner.get('/api/directory:export?source=openapi:there');
    expect(
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).key),
    ).toEqual(['FROM_THERE']);
  });
});

describe('a restored version', () => {
  it('of a changed row is its newest version', async () => {
    await create('CHANGED', { category: 'one' });
    const fingerprint = fingerprintOf('CHANGED');
    await patch('CHANGED', { category: 'two', content: '# WHAT: Else.\n["$1!"]' });
    const answer = await restore('CHANGED', 1, { 'x-reason': 'it was better' });
    expect(answer).toMatchObject({ status: 200, headers: { etag: '"3"' } });
    expect(answer.json()).toMatchObject({ category: 'one', content: '# WHAT: Echo.', version: 3 });
    expect(fingerprintOf('CHANGED')).toBe(fingerprint);
    const { versions } = (await read('CHANGED/versions')).json<{ versions: readonly object[] }>();
    expect(versions[0]).toMatchObject({ version: 3, actor: 'owner', reason: 'it was better' });
  });

  it.each([1, 2])('(%i) of a deleted row makes it anew, and callable', async (version) => {
    const key = `DELETED_${version}`;
    await create(key);
    await remove(key);
    expect((await restore(key, version)).json()).toMatchObject({ version: 3 });
    expect((await api.owner.invoke({ key, body: 'b' })).json()).toMatchObject({ result: 'b' });
  });

  it('that breaks hygiene is refused, and nothing changes', async () => {
    await api.context.store.pool.query(`insert into directory (key, type, target) values ('UNKEMPT', 'fn', 'ECHO')`);
    await patch('UNKEMPT', { content: '# WHAT: Echo.', examples: ['a'] });
    const answer = await restore('UNKEMPT', 1);
    expect(answer.json()).toMatchObject({ status: 422, error: 'hygiene_refused' });
    expect((await read('UNKEMPT')).json()).toMatchObject({ version: 2, examples: ['a'] });
  });

  it('that no longer is a row is refused', async () => {
    await api.context.store.pool.query(
      `insert into directory (key, type, target, category) values ('OVERLONG', 'fn', 'ECHO', repeat('c', 200))`,
    );
    expect((await restore('OVERLONG', 1)).json()).toMatchObject({ status: 400, error: 'invalid_row' });
  });

  it('is guarded by If-Match, for a deleted row as well', async () => {
    await create('GUARDED');
    await patch('GUARDED', { seq: 1 });
    expect(await restore('GUARDED', 1, { 'if-match': '"1"' })).toMatchObject({ status: 412 });
    await remove('GUARDED');
    expect(await restore('GUARDED', 1, { 'if-match': '"2"' })).toMatchObject({ status: 412 });
    expect(await read('GUARDED')).toMatchObject({ status: 404 });
  });

  it.each([
    ['a version that never was', 'NOW', 99],
    ['a row that never was', 'NEVER_WAS', 1],
  ])('cannot be %s', async (_what, key, version) => {
    expect((await restore(key, version)).json()).toMatchObject({ status: 404, error: 'unknown_version' });
  });
});

describe('a version', () => {
  it('can be read as it stood', async () => {
    await create('STOOD', { category: 'one' });
    await patch('STOOD', { category: 'two' });
    expect((await read('STOOD/versions/1')).json()).toMatchObject({ category: 'one', version: 1 });
  });

  it('differs from the one before, or from any other, in the columns that changed', async () => {
    await create('DIFF', { category: 'one' });
    await patch('DIFF', { category: 'two' });
    await patch('DIFF', { category: 'one', seq: 4 });
    expect((await read('DIFF/versions/2/diff')).json()).toEqual({
      key: 'DIFF',
      from: 1,
      to: 2,
      changes: [{ column: 'category', before: 'one', after: 'two' }],
    });
    expect((await read('DIFF/versions/3/diff?against=1')).json()).toMatchObject({
      changes: [{ column: 'seq', before: 0, after: 4 }],
    });
  });

  it.each(['0', 'x', '1.5', '99999999999'])('%s is none', async (version) => {
    expect(await read(`NOW/versions/${version}`)).toMatchObject({ status: 400 });
  });
});
