import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../../testing/test-api.js';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const ROW = { type: 'fn', target: 'ECHO', content: '# WHAT: Echo.', examples: ['a'] };
const create = async (key: string, more: object = {}): Promise<void> => {
  expect(await api.owner.post('/api/directory', { key, ...ROW, ...more })).toMatchObject({ status: 201 });
};
const patch = (key: string, body: object, headers = {}) =>
  api.owner.send('PATCH', `/api/directory/${key}`, { body, headers });
const put = (key: string, body: object, headers = {}) =>
  api.owner.send('PUT', `/api/directory/${key}`, { body, headers });
const remove = (key: string, headers = {}) => api.owner.send('DELETE', `/api/directory/${key}`, { headers });

async function fingerprintOf(key: string): Promise<string> {
  return (await api.anyone.get(`/api/dispatch?key=${key}`)).json<{ fingerprint: string }>().fingerprint;
}

describe('PATCH', () => {
  it('changes the columns that it names and no others', async () => {
    await create('SOME', { category: 'one', seq: 7 });
    const answer = await patch('SOME', { category: 'two' });
    expect(answer).toMatchObject({ status: 200, headers: { etag: '"2"' } });
    expect(answer.json()).toMatchObject({ category: 'two', seq: 7, examples: ['a'], version: 2 });
    expect((await api.anyone.get('/api/dispatch?map=two')).text).toContain('SOME');
  });

  it('that changes nothing leaves the version', async () => {
    await create('SAME', { category: 'one' });
    expect((await patch('SAME', { category: 'one' })).json()).toMatchObject({ version: 1 });
    expect((await patch('SAME', {})).json()).toMatchObject({ version: 1 });
  });

  it('refuses a violation that the row did not have', async () => {
    await create('CLEAN');
    const answer = await patch('CLEAN', { content: '', examples: [] });
    expect(answer.status).toBe(422);
    expect(answer.json<{ violations: object[] }>().violations).toHaveLength(2);
    expect((await api.owner.get('/api/directory/CLEAN')).json()).toMatchObject({ version: 1, examples: ['a'] });
  });

  it('leaves a violation that the row had before', async () => {
    await api.context.store.pool.query(`insert into directory (key, type, target) values ('OLD', 'fn', 'REMOVED')`);
    const answer = await patch('OLD', { enabled: false });
    expect(answer.status).toBe(200);
    expect(answer.json()).toMatchObject({ enabled: false });
  });

  it('of the documentation leaves the fingerprint, of the payload changes it', async () => {
    await create('PRINT');
    const before = await fingerprintOf('PRINT');
    await patch('PRINT', { category: 'docs', planner_rank: 1, examples: ['b'] });
    expect(await fingerprintOf('PRINT')).toBe(before);
    await patch('PRINT', { content: '# WHAT: Echo.\n["$1!"]' });
    expect(await fingerprintOf('PRINT')).not.toBe(before);
  });

  it('leaves the fingerprint of a row whose schema came without an order of arguments', async () => {
    await api.context.store.pool.query(
      `insert into directory (key, type, target, content, examples, input_schema)
       values ('FROM_SQL', 'fn', 'ECHO', '# WHAT: Echo.', '["a"]', '{"type":"object","properties":{"b":{},"a":{}}}')`,
    );
    await patch('FROM_SQL', { category: 'x' });
    const before = await fingerprintOf('FROM_SQL');
    await patch('FROM_SQL', { category: 'y' });
    expect(await fingerprintOf('FROM_SQL')).toBe(before);
  });

  it.each([
    ['the key', { key: 'OTHER' }],
    ['the version', { version: 9 }],
    ['a column that is none', { colour: 'red' }],
    ['null where a column needs a value', { category: null }],
  ])('refuses %s', async (_what, body) => {
    expect((await patch('NOW', body)).json()).toMatchObject({ status: 400, error: 'invalid_row' });
  });

  it('takes both forms of JSON fields and booleans', async () => {
    await create('FORMS');
    const answer = await patch('FORMS', { enabled: 0, examples: '["x","y"]' });
    expect(answer.json()).toMatchObject({ enabled: false, examples: ['x', 'y'] });
  });

  it('of the same row by many at once loses none of them', async () => {
    await create('BUSY');
    const changes = ['category', 'runner', 'source', 'target'].map((name) =>
      patch('BUSY', name === 'target' ? { target: 'UPPER' } : { [name]: 'changed' }),
    );
    await Promise.all(changes);
    expect((await api.owner.get('/api/directory/BUSY')).json()).toMatchObject({
      category: 'changed',
      runner: 'changed',
      source: 'changed',
      target: 'UPPER',
      version: 5,
    });
  });
});

describe('PUT', () => {
  it('replaces the whole row: what it does not name takes its default', async () => {
    await create('WHOLE', { category: 'one', seq: 7, pinned_for: ['x'] });
    const answer = await put('WHOLE', { ...ROW, examples: ['b'] });
    expect(answer).toMatchObject({ status: 200, headers: { etag: '"2"' } });
    expect(answer.json()).toMatchObject({ key: 'WHOLE', category: '', seq: 0, pinned_for: [], examples: ['b'] });
  });

  it('may repeat the key, but not name another', async () => {
    await create('NAMED');
    expect(await put('NAMED', { key: 'NAMED', ...ROW })).toMatchObject({ status: 200 });
    expect((await put('NAMED', { key: 'OTHER', ...ROW })).json()).toMatchObject({ status: 400, error: 'invalid_row' });
  });

  it('refuses violations, those that the row had before as well', async () => {
    await api.context.store.pool.query(`insert into directory (key, type, target) values ('OLD_2', 'fn', 'ECHO')`);
    expect(await put('OLD_2', { type: 'fn', target: 'ECHO' })).toMatchObject({ status: 422 });
  });

  it('does not make a row', async () => {
    expect((await put('NEVER_MADE', ROW)).json()).toMatchObject({ status: 404, error: 'unknown_key' });
  });
});

describe('If-Match', () => {
  it.each([
    ['PATCH', (key: string, headers: object) => patch(key, { category: 'x' }, headers)],
    ['PUT', (key: string, headers: object) => put(key, { ...ROW, category: 'x' }, headers)],
    ['DELETE', (key: string, headers: object) => remove(key, headers)],
  ])('guards %s: an old version is refused and nothing changes', async (method, change) => {
    const key = `GUARDED_${method}`;
    await create(key);
    await patch(key, { seq: 1 });
    const stale = await change(key, { 'if-match': '"1"' });
    expect(stale.json()).toMatchObject({ status: 412, error: 'version_mismatch', version: 2 });
    expect((await api.owner.get(`/api/directory/${key}`)).json()).toMatchObject({ version: 2, category: '' });
    expect(await change(key, { 'if-match': '"2"' })).toMatchObject({ status: 200 });
  });

  it('of * takes any version', async () => {
    await create('ANY');
    expect(await patch('ANY', { seq: 1 }, { 'if-match': '*' })).toMatchObject({ status: 200 });
  });

  it.each(['"abc"', 'W/"1"', '"1", "2"', '-1', ''])('that holds %j is refused', async (header) => {
    expect(await patch('NOW', { seq: 1 }, { 'if-match': header })).toMatchObject({ status: 400 });
  });
});

describe('DELETE', () => {
  it('takes the row out of every surface at once', async () => {
    await create('GOING');
    const answer = await remove('GOING');
    expect(answer).toMatchObject({ status: 200 });
    expect(answer.json()).toEqual({ key: 'GOING', deleted: true, version: 2 });
    expect(await api.owner.get('/api/directory/GOING')).toMatchObject({ status: 404 });
    expect(await api.anyone.get('/api/dispatch?key=GOING')).toMatchObject({ status: 404 });
    expect(await api.owner.invoke({ key: 'GOING' })).toMatchObject({ status: 404 });
    expect((await api.anyone.get('/api/dispatch?registry=1&limit=500')).text).not.toContain('GOING');
  });

  it('leaves the receipts of the row confirmed', async () => {
    await create('PROVEN');
    const answer = await api.owner.invoke({ key: 'PROVEN', body: 'a' });
    const { proof } = answer.json<{ proof: { invocation_id: string } }>();
    await remove('PROVEN');
    expect((await api.anyone.get(`/api/dispatch?confirm=${proof.invocation_id}`)).json()).toMatchObject({
      confirmed: true,
      key: 'PROVEN',
      row_version: 1,
    });
  });

  it('may say that it sends JSON, and send nothing', async () => {
    await create('POLITE');
    expect(await remove('POLITE', { 'content-type': 'application/json' })).toMatchObject({ status: 200 });
  });

  it.each(['NEVER_WAS', 'never', 'A'.repeat(65), '%00'])('of %s is not found', async (key) => {
    expect((await remove(key)).json()).toMatchObject({ status: 404, error: 'unknown_key' });
  });

  it('of a misspelt key names the one that was probably meant', async () => {
    expect((await remove('now')).json()).toMatchObject({ did_you_mean: ['NOW'] });
  });
});

describe('the versions of a key', () => {
  it('go on through deletion and making anew', async () => {
    await create('PHOENIX');
    await remove('PHOENIX', { 'x-reason': 'for a while' });
    await create('PHOENIX', { category: 'again' });
    expect((await api.owner.get('/api/directory/PHOENIX')).json()).toMatchObject({ version: 3, category: 'again' });
    expect((await api.anyone.get('/api/dispatch?key=PHOENIX')).json()).toMatchObject({ version: 3 });
    const { versions } = (await api.owner.get('/api/directory/PHOENIX/versions')).json<{ versions: object[] }>();
    expect(versions).toMatchObject([
      {
        version: 3,
        deleted: false,
        actor: 'owner',
        reason: null,
        fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
      { version: 2, deleted: true, reason: 'for a while' },
      { version: 1, deleted: false },
    ]);
  });

  it('can be read after the deletion', async () => {
    await create('PAST');
    await remove('PAST');
    expect(await api.owner.get('/api/directory/PAST/versions')).toMatchObject({ status: 200 });
  });

  it('of a key that never was are not found', async () => {
    expect(await api.owner.get('/api/directory/NEVER_WAS/versions')).toMatchObject({ status: 404 });
  });

  it('carry the fingerprint that the contract shows', async () => {
    await create('SHOWN', { headers: { a: 'b' }, includes: ['NOW'] });
    const { versions } = (await api.owner.get('/api/directory/SHOWN/versions')).json<{
      versions: { fingerprint: string }[];
    }>();
    expect(versions[0]?.fingerprint).toBe(await fingerprintOf('SHOWN'));
  });
});
