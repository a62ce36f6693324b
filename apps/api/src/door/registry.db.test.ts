import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../testing/test-api.js';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

interface Page {
  readonly registry: readonly { readonly key: string; readonly category: string }[];
  readonly total: number;
  readonly next_cursor: string | null;
}

const readPage = async (query: string): Promise<Page> =>
  (await api.anyone.get(`/api/dispatch?registry=1&${query}`)).json<Page>();
const keysOf = ({ registry }: Page): string[] => registry.map(({ key }) => key);

async function readAll(query: string, meanwhile: () => Promise<unknown> = async () => undefined): Promise<string[]> {
  const keys: string[] = [];
  for (let cursor = ''; ; ) {
    const page = await readPage(`${query}${cursor === '' ? '' : `&cursor=${cursor}`}`);
    keys.push(...keysOf(page));
    if (keys.length > 1_000) throw new Error('the pages do not end');
    if (page.next_cursor === null) return keys;
    cursor = page.next_cursor;
    await meanwhile();
  }
}

const addRow = (key: string, more: object = {}) =>
  api.owner.post('/api/directory', {
    key,
    type: 'fn',
    target: 'ECHO',
    content: '# WHAT: Echo.',
    examples: ['a'],
    ...more,
  });

describe('the registry', () => {
  it('describes a row in a few words', async () => {
    const page = await readPage('limit=500');
    expect(page.registry.find(({ key }) => key === 'NOW')).toEqual({
      key: 'NOW',
      type: 'fn',
      category: 'time',
      what: 'Current date and time: now, today, time, zone, iso.',
      effect: 'read',
      risk: 'low',
      version: 1,
      contract: 'http://127.0.0.1:8787/api/dispatch?key=NOW',
    });
  });

  it('gives every row once, in pages of any size', async () => {
    const whole = keysOf(await readPage('limit=500'));
    expect(whole).toHaveLength(47);
    for (const limit of [1, 3, 13, 47]) expect(await readAll(`limit=${limit}`)).toEqual(whole);
  });

  it('neither repeats nor hides a row when others come and go between two pages', async () => {
    const whole = keysOf(await readPage('limit=500'));
    let round = 0;
    const keys = await readAll('limit=3', async () => {
      round += 1;
      // In front of and behind the place where the next page begins, and the last row of the page itself.
      await addRow(`AAA_${round}`, { category: 'aaa' });
      await addRow(`ZZZ_${round}`, { category: 'zzz' });
      await api.owner.send('DELETE', `/api/directory/AAA_${round}`);
    });
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys.filter((key) => whole.includes(key))).toEqual(whole);
  });

  it('goes on behind a row that was deleted after its page', async () => {
    await addRow('GONE_1', { category: 'gone' });
    await addRow('GONE_2', { category: 'gone' });
    const page = await readPage('category=gone&limit=1');
    await api.owner.send('DELETE', '/api/directory/GONE_1');
    expect(keysOf(await readPage(`category=gone&limit=1&cursor=${page.next_cursor}`))).toEqual(['GONE_2']);
  });

  it('can be read for one category', async () => {
    const page = await readPage('category=github');
    expect(page.total).toBe(3);
    expect(keysOf(page)).toEqual(['GITHUB_ISSUES', 'GITHUB_RELEASE', 'GITHUB_REPO']);
    expect(await readPage('category=nothing')).toMatchObject({ registry: [], total: 0, next_cursor: null });
  });

  it('has another tag as soon as a row changed', async () => {
    const { etag } = (await api.anyone.get('/api/dispatch?registry=1')).headers;
    await addRow('NEW_ONE');
    const again = await api.anyone.get('/api/dispatch?registry=1', { 'if-none-match': String(etag) });
    expect(again.status).toBe(200);
    expect(again.text).toContain('NEW_ONE');
  });
});

describe('the map', () => {
  it('leads from the root through a category to a contract', async () => {
    const root = (await api.anyone.get('/api/dispatch?map=1')).json<{
      children: { category: string; map: string }[];
    }>();
    const weather = root.children.find(({ category }) => category === 'weather');
    expect(weather).toEqual({ category: 'weather', rows: 2, map: 'http://127.0.0.1:8787/api/dispatch?map=weather' });
    const category = (await api.anyone.get('/api/dispatch?map=weather')).json<{ children: { key: string }[] }>();
    expect(category).toMatchObject({ map: 'weather', parent: 'http://127.0.0.1:8787/api/dispatch?map=1', rows: 2 });
    expect(category.children.map(({ key }) => key)).toEqual(['WEATHER_FORECAST', 'WEATHER_NOW']);
  });

  it('of a category that is not there is not found', async () => {
    expect((await api.anyone.get('/api/dispatch?map=nowhere')).json()).toMatchObject({
      status: 404,
      error: 'not_found',
    });
  });

  it('finds a category whatever its name holds', async () => {
    await addRow('STRANGE', { category: 'a&b=c/d ?#é' });
    const root = (await api.anyone.get('/api/dispatch?map=1')).json<{
      children: { category: string; map: string }[];
    }>();
    const url = root.children.find(({ category }) => category === 'a&b=c/d ?#é')?.map ?? '';
    const answer = await api.anyone.get(url.replace('http://127.0.0.1:8787', ''));
    expect(answer.json()).toMatchObject({ children: [{ key: 'STRANGE' }] });
  });

  it('finds the rows that have no category', async () => {
    await addRow('LOOSE');
    const answer = await api.anyone.get('/api/dispatch?map=(none)');
    expect(answer.json<{ children: { key: string }[] }>().children.map(({ key }) => key)).toContain('LOOSE');
  });

  it('of a great category shows its first hundred rows and where the others are', async () => {
    for (let i = 100; i < 201; i += 1) await addRow(`MANY_${i}`, { category: 'many' });
    const answer = (await api.anyone.get('/api/dispatch?map=many')).json<{ children: object[]; more: string }>();
    expect(answer.children).toHaveLength(100);
    expect(answer.more).toBe('http://127.0.0.1:8787/api/dispatch?registry=1&category=many');
  });
});

describe('the four counts', () => {
  it('agree on every surface', async () => {
    await addRow('TEST_SCRATCH');
    await addRow('HIDDEN', { planner_visible: false });
    await addRow('OFF', { enabled: false });
    const counts = (await api.owner.get('/api/directory/counts')).json<Record<string, number>>();
    const { rows } = await api.context.store.pool.query(`
      select count(*)::int as rows,
             count(*) filter (where enabled)::int as enabled,
             count(*) filter (where enabled and key !~ '^(__|ZZ_TEST|TEST_)')::int as registry,
             count(*) filter (where enabled and key !~ '^(__|ZZ_TEST|TEST_)' and planner_visible)::int as projected
      from directory`);
    expect(counts).toEqual(rows[0]);
    expect(counts.rows).toBe((counts.enabled ?? 0) + 1);
    expect(counts.enabled).toBe((counts.registry ?? 0) + 1);
    expect(counts.registry).toBe((counts.projected ?? 0) + 1);
    expect((await api.anyone.get('/api/dispatch')).json()).toMatchObject({ counts });
    expect((await api.anyone.get('/api/dispatch?map=1')).json()).toMatchObject({ counts });
    expect((await readPage('limit=1')).total).toBe(counts.registry);
    expect((await readAll('limit=50')).length).toBe(counts.registry);
    const list = (await api.owner.get('/api/directory?limit=1000')).json<{ rows: object[] }>();
    expect(list.rows).toHaveLength(counts.rows ?? 0);
    expect((await api.anyone.get('/readyz')).json()).toMatchObject({ rows: counts.rows });
  });
});
