import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../testing/test-api.js';

let api: TestApi;
let receipt: string;
beforeAll(async () => {
  api = await startTestApi({ config: { publicContracts: false, publicConfirm: false } });
  const answer = await api.owner.invoke({ key: 'ECHO', body: 'a' });
  receipt = answer.json<{ proof: { invocation_id: string } }>().proof.invocation_id;
});
afterAll(() => api.close());

describe('a server whose contracts and confirmations are not public', () => {
  it.each(['ask=time', 'key=NOW', 'key=NWO', 'map=1', 'map=time', 'registry=1'])(
    'shows %s to the owner alone',
    async (query) => {
      expect(await api.anyone.get(`/api/dispatch?${query}`)).toMatchObject({ status: 401 });
      expect((await api.owner.get(`/api/dispatch?${query}`)).status).not.toBe(401);
    },
  );

  it('confirms to the owner alone', async () => {
    for (const url of [`/api/dispatch?confirm=${receipt}`, `/receipt/${receipt}`]) {
      expect(await api.anyone.get(url)).toMatchObject({ status: 401 });
      expect(await api.owner.get(url)).toMatchObject({ status: 200 });
    }
  });

  it('explains itself to anyone, without a word of what rows it has', async () => {
    const answer = await api.anyone.get('/api/dispatch');
    expect(answer.status).toBe(200);
    expect(answer.json()).toMatchObject({ name: 'rowcall', steps: {} });
    expect(answer.json()).not.toHaveProperty('counts');
    expect(answer.text).not.toContain('weather');
    const markdown = await api.anyone.get('/api/dispatch?format=markdown');
    expect(markdown.text).not.toContain('weather');
    expect((await api.owner.get('/api/dispatch')).text).toContain('weather');
  });
});
