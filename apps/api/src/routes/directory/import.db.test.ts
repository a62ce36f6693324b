import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { importLines, makeLine, sendLines } from '../../testing/import.js';
import { OWNER_KEY, startTestApi, type TestApi } from '../../testing/test-api.js';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const send = (lines: readonly (object | string)[], query = '') => importLines(api.owner, lines, query);
const versionOf = (key: string) => api.context.catalogue.find(key)?.row.version;
async function countStored(prefix: string): Promise<number> {
  const { rows } = await api.context.store.pool.query('select key from directory where starts_with(key, $1)', [prefix]);
  return rows.length;
}

describe('an import', () => {
  it('of NDJSON makes rows that can be called at once', async () => {
    expect(await send([makeLine('LINES_1'), makeLine('LINES_2')])).toEqual({
      dry_run: false,
      atomic: false,
      lines: 2,
      created: 2,
      changed: 0,
      unchanged: 0,
      failed: 0,
      errors: [],
    });
    expect((await api.owner.invoke({ key: 'LINES_2', body: 'b' })).json()).toMatchObject({ ok: true, result: 'b' });
  });

  it('takes one JSON array', async () => {
    const answer = await api.owner.post('/api/directory:import', [makeLine('ARRAY_1'), { key: 'ARRAY_2' }]);
    expect(answer.json()).toMatchObject({ lines: 2, created: 1, failed: 1, errors: [{ line: 2, key: 'ARRAY_2' }] });
  });

  it('takes no other body', async () => {
    expect((await api.owner.post('/api/directory:import', makeLine('ALONE'))).json()).toMatchObject({ status: 400 });
    const type = { 'content-type': 'text/csv' };
    expect(await api.owner.send('POST', '/api/directory:import', { body: 'a', headers: type })).toMatchObject({
      status: 415,
    });
  });

  it('is the only one that takes NDJSON', async () => {
    const headers = { 'content-type': 'application/x-ndjson' };
    for (const url of ['/api/directory', '/api/dispatch']) {
      expect(await api.owner.send('POST', url, { body: '{}', headers })).toMatchObject({ status: 415 });
    }
  });

  it('has no other method', async () => {
    expect(await api.owner.get('/api/directory:import')).toMatchObject({
      status: 405,
      headers: { allow: 'POST, OPTIONS' },
    });
  });

  it('carries actor and reason into the history', async () => {
    await api.owner.post('/api/directory:import', [makeLine('WHY')], { 'x-reason': 'moved here' });
    const answer = await api.owner.get('/api/directory/WHY/versions');
    expect(answer.json()).toMatchObject({ versions: [{ version: 1, actor: 'owner', reason: 'moved here' }] });
  });

  it('that is repeated changes nothing and leaves the versions', async () => {
    const lines = [makeLine('AGAIN_1', { input_schema: { properties: { b: {}, a: {} } } }), makeLine('AGAIN_2')];
    await send(lines);
    expect(await send(lines)).toMatchObject({ created: 0, changed: 0, unchanged: 2 });
    expect([versionOf('AGAIN_1'), versionOf('AGAIN_2')]).toEqual([1, 1]);
  });

  it('changes what differs', async () => {
    await send([makeLine('DIFFERS'), makeLine('STAYS')]);
    expect(await send([makeLine('DIFFERS', { seq: 1 }), makeLine('STAYS')])).toMatchObject({
      changed: 1,
      unchanged: 1,
    });
    expect([versionOf('DIFFERS'), versionOf('STAYS')]).toEqual([2, 1]);
  });

  it('of a key twice leaves the later line', async () => {
    const report = await send([makeLine('TWICE', { seq: 1 }), makeLine('OTHER'), makeLine('TWICE', { seq: 2 })]);
    expect(report).toMatchObject({ lines: 3, created: 2, changed: 1 });
    expect(api.context.catalogue.find('TWICE')?.row.seq).toBe(2);
  });
});

const deep = '['.repeat(300) + ']'.repeat(300);
const schemaWith = (value: string) => makeLine('BAD', { input_schema: { description: value } });
const BAD_LINES: readonly [what: string, line: object | string, error: string][] = [
  ['is no JSON', '{"key":', 'invalid_json'],
  ['is no object', '[1]', 'invalid_row'],
  ['is null', 'null', 'invalid_row'],
  ['has no key', { type: 'fn' }, 'invalid_row'],
  ['has a field too many', makeLine('BAD', { colour: 'red' }), 'invalid_row'],
  ['breaks hygiene', makeLine('BAD', { content: '' }), 'hygiene_refused'],
  ['names a function that is none', makeLine('BAD', { target: 'NONE' }), 'hygiene_refused'],
  ['holds U+0000 in its schema', schemaWith('a\0b'), 'invalid_row'],
  ['holds U+0000 in a name', makeLine('BAD', { input_schema: { 'a\0b': 1 } }), 'invalid_row'],
  ['holds half a surrogate pair', schemaWith('\ud800'), 'invalid_row'],
  ['holds a number out of range', makeLine('BAD', { seq: 3_000_000_000 }), 'invalid_row'],
  ['nests too deeply', `{"key":"BAD","type":"fn","input_schema":{"x":${deep}}}`, 'invalid_json'],
  ['reaches for a prototype', '{"key":"BAD","type":"fn","__proto__":{"a":1}}', 'invalid_json'],
  ['is too long', makeLine('BAD', { content: `# WHAT: ${'x'.repeat(5_000_000)}` }), 'payload_too_large'],
];

describe('a line that', () => {
  it.each(BAD_LINES)('%s is told by its number, and the rest stand', async (what, line, error) => {
    const prefix = `REST_${what.replace(/\W/g, '_').toUpperCase()}`.slice(0, 60);
    const report = await send([makeLine(`${prefix}_1`), '', line, makeLine(`${prefix}_2`)]);
    expect(report).toMatchObject({ lines: 3, created: 2, failed: 1, errors: [{ line: 3, error }] });
    expect(await countStored(prefix)).toBe(2);
    expect(await countStored('BAD')).toBe(0);
  });

  it('the database alone refuses fails alone', async () => {
    await api.context.store.pool.query(`alter table directory add constraint no_odd check (source <> 'odd') not valid`);
    const lines = Array.from({ length: 7 }, (_, index) =>
      makeLine(`ODD_${index}`, index === 4 ? { source: 'odd' } : {}),
    );
    const report = await send(lines);
    expect(report).toMatchObject({ created: 6, failed: 1, errors: [{ line: 5, key: 'ODD_4', error: 'invalid_row' }] });
  });

  it('breaks hygiene tells every violation', async () => {
    const { errors } = await send([makeLine('WORSE', { content: '', examples: [] })]);
    expect(errors).toMatchObject([
      { violations: [{ code: 'missing_description' }, { code: 'keyless_missing_examples' }] },
    ]);
  });
});

describe('an atomic import', () => {
  it('with a bad line writes nothing, and tells every bad line', async () => {
    const lines = Array.from({ length: 1_200 }, (_, index) => makeLine(`ATOMIC_${index}`));
    const report = await send([...lines, '{', '}'], '?atomic=1');
    expect(report).toMatchObject({ atomic: true, created: 0, changed: 0, unchanged: 0, failed: 2 });
    expect(report.errors.map(({ line }) => line)).toEqual([1_201, 1_202]);
    expect(await countStored('ATOMIC')).toBe(0);
    expect(versionOf('ATOMIC_1')).toBeUndefined();
  });

  it('without one writes all', async () => {
    const lines = Array.from({ length: 1_200 }, (_, index) => makeLine(`WHOLE_${index}`));
    expect(await send(lines, '?atomic=1')).toMatchObject({ created: 1_200, failed: 0 });
    expect(versionOf('WHOLE_1199')).toBe(1);
  });
});

describe('a dry run', () => {
  it.each(['', '&atomic=1'])('(%s) writes nothing and tells what the import then does', async (query) => {
    const prefix = `DRY${query === '' ? '' : '_ATOMIC'}`;
    await send([makeLine(`${prefix}_OLD`), makeLine(`${prefix}_SAME`)]);
    const lines = [
      makeLine(`${prefix}_OLD`, { seq: 1 }),
      makeLine(`${prefix}_SAME`),
      makeLine(`${prefix}_NEW`),
      makeLine(`${prefix}_NEW`, { seq: 5 }),
      makeLine(`${prefix}_NEW`, { seq: 5 }),
      ...(query === '' ? ['{'] : []),
    ];
    const dry = await send(lines, `?dry_run=true${query}`);
    expect(await countStored(prefix)).toBe(2);
    expect([versionOf(`${prefix}_OLD`), versionOf(`${prefix}_NEW`)]).toEqual([1, undefined]);
    const real = await send(lines, query.replace('&', '?'));
    expect(real).toMatchObject({ created: 1, changed: 2, unchanged: 2 });
    expect(dry).toEqual({ ...real, dry_run: true });
  });
});

describe('imports of the same rows at once', () => {
  it.each(['', '?atomic=1'])('(%s) all come to their end', async (query) => {
    const lines = Array.from({ length: 1_500 }, (_, index) => makeLine(`CROSS_${index}`));
    const seq = (value: number) => lines.map((line) => ({ ...line, seq: value }));
    const reports = await Promise.all([
      send(seq(1), query),
      send(seq(2).reverse(), query),
      send(seq(3)),
      send(seq(4).reverse(), '?dry_run=1'),
    ]);
    for (const { lines: read, failed } of reports) expect([read, failed]).toEqual([1_500, 0]);
  });
});

describe('an upload', () => {
  it('that breaks off leaves whole batches and nothing else', async () => {
    const url = await api.listen();
    const upload = request(`${url}/api/directory:import`, {
      method: 'POST',
      headers: { authorization: `Bearer ${OWNER_KEY}`, 'content-type': 'application/x-ndjson' },
    });
    upload.on('error', () => undefined);
    for (let index = 0; index < 900; index += 1) upload.write(`${JSON.stringify(makeLine(`BROKEN_${index}`))}\n`);
    await vi.waitFor(async () => expect(await countStored('BROKEN')).toBe(500), { timeout: 10_000, interval: 20 });
    upload.destroy();
    await new Promise((resolve) => upload.once('close', resolve));
    await send([makeLine('AFTER_BREAK')]);
    expect(await countStored('BROKEN')).toBe(500);
    expect(api.log.join('')).not.toContain('could not be served');
  });

  it('may be larger than other bodies may', async () => {
    const content = `# WHAT: Echo.\n["${'x'.repeat(900_000)}"]`;
    const lines = Array.from({ length: 40 }, (_, index) => makeLine(`GREAT_${index}`, { content }));
    expect(await send(lines)).toMatchObject({ created: 40, failed: 0 });
    const array = await api.owner.post('/api/directory:import', lines);
    expect(array.json()).toMatchObject({ status: 413, error: 'payload_too_large' });
  });

  it('without authority is refused before it is read', async () => {
    expect(await sendLines(api.anyone, [makeLine('STRANGER')])).toMatchObject({ status: 401 });
    expect(await countStored('STRANGER')).toBe(0);
  });
});
