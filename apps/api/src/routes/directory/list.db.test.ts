import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../../testing/test-api.js';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

interface Page {
  readonly rows: readonly { readonly key: string }[];
  readonly next_cursor: string | null;
}
const readPage = async (query: string): Promise<Page> => (await api.owner.get(`/api/directory?${query}`)).json<Page>();

describe('GET /api/directory', () => {
  it('gives every row once and whole, by key, in pages of any size', async () => {
    const keys: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Page = await readPage(`limit=4&cursor=${cursor}`);
      keys.push(...page.rows.map(({ key }) => key));
      cursor = page.next_cursor;
    }
    expect(keys).toHaveLength(47);
    expect(keys).toEqual([...new Set(keys)].sort());
    expect((await readPage('limit=1')).rows[0]).toHaveProperty('content');
  });

  it('gives the rows of one category, those that are disabled as well', async () => {
    await api.owner.send('PATCH', '/api/directory/GITHUB_REPO', { body: { enabled: false } });
    const page = await readPage('category=github');
    expect(page.rows.map(({ key }) => key)).toEqual(['GITHUB_ISSUES', 'GITHUB_RELEASE', 'GITHUB_REPO']);
  });

  it('gives rows that plain SQL put past the limits of the API', async () => {
    await api.context.store.pool.query(
      `insert into directory (key, type, target, category, limits) values ('ODD', 'fn', 'ECHO', repeat('x', 200), '{"odd":1}')`,
    );
    await expect.poll(() => api.context.catalogue.find('ODD')).toBeDefined();
    expect((await readPage('limit=1000')).rows.map(({ key }) => key)).toContain('ODD');
    expect(await api.owner.get('/api/directory/ODD')).toMatchObject({ status: 200 });
  });

  it.each(['limit=0', 'limit=1001', 'limit=a', 'page=2'])('refuses %s', async (query) => {
    const answer = await api.owner.get(`/api/directory?${query}`);
    expect(answer.json()).toMatchObject({ status: 400, error: 'unrecognized_request' });
  });
});
