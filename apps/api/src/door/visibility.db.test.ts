import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Client } from '../testing/client.js';
import { mintGrant, type TestGrant } from '../testing/grants.js';
import { startTestApi, type TestApi } from '../testing/test-api.js';

/** Rows of which the grants under test may know only the open ones. */
const ROWS = [
  ['OPEN_ONE', 'open', 'Tells the colour of the zebra.'],
  ['OPEN_TWO', 'open', 'Tells the weight of the zebra.'],
  ['HIDDEN_ONE', 'hidden', 'Tells the secret name of the zebra.'],
  ['OPEN_TWA', 'hidden', 'Tells the age of the zebra.'],
] as const;
const HIDDEN = /HIDDEN_ONE|OPEN_TWA|secret name|hidden/;

let open: TestApi;
let closed: TestApi;
beforeAll(async () => {
  open = await startTestApi();
  closed = await startTestApi({ databaseUrl: open.databaseUrl, config: { publicContracts: false } });
  for (const [key, category, what] of ROWS) {
    const answer = await open.owner.post('/api/directory', {
      key,
      type: 'fn',
      target: 'ECHO',
      category,
      content: `# WHAT: ${what}\n# ARGS: $1=word (any)\n["hidden prompt $1"]`,
      examples: ['a'],
      input_schema: {
        type: 'object',
        properties: { word: { type: 'string' }, input: { type: 'object' } },
        'x-arg-order': ['word'],
      },
    });
    expect(answer.status, answer.text).toBe(201);
    await closed.context.catalogue.ensure(key, 1);
  }
});
afterAll(async () => {
  await closed.close();
  await open.close();
});

const apis = [
  ['with public contracts', () => open],
  ['without', () => closed],
] as const;
const scopes = [
  ['keys', { keys: ['OPEN_ONE', 'OPEN_TWO', 'DIR_GET', 'DIR_SEARCH', 'OIP_RECEIPT', 'OIP_TREE'] }],
  ['a category and keys', { categories: ['open'], keys: ['DIR_GET', 'DIR_SEARCH', 'OIP_RECEIPT', 'OIP_TREE'] }],
] as const;
const COVERED = ['DIR_GET', 'DIR_SEARCH', 'OIP_RECEIPT', 'OIP_TREE', 'OPEN_ONE', 'OPEN_TWO'];

describe.each(apis)('on a server %s', (_name, findApi) => {
  describe.each(scopes)('the holder of a grant for %s', (_scope, scope) => {
    let api: TestApi;
    let grant: TestGrant;
    let holder: Client;
    beforeAll(async () => {
      api = findApi();
      grant = await mintGrant(api, { scope });
      ({ holder } = grant);
    });

    const read = (query: string) => holder.get(`/api/dispatch?${query}`);

    it('finds by ask what the grant covers alone', async () => {
      for (const question of ['the zebra', 'secret name of the zebra', 'HIDDEN_ONE', 'age of the zebra']) {
        const answer = await read(`ask=${encodeURIComponent(question)}`);
        const { matches } = answer.json<{ matches: { key: string }[] }>();
        expect(matches.every(({ key }) => COVERED.includes(key))).toBe(true);
        expect(answer.text.replace(JSON.stringify(question), '')).not.toMatch(HIDDEN);
      }
      expect((await read('ask=weight+of+the+zebra')).json()).toMatchObject({ best: { key: 'OPEN_TWO' } });
    });

    it('reads the contracts that the grant covers alone, and is led to no other', async () => {
      expect((await read('key=OPEN_ONE')).status).toBe(200);
      const [hidden, absent] = [await read('key=HIDDEN_ONE'), await read('key=HIDDEN_TWO')];
      expect([hidden.status, absent.status]).toEqual([404, 404]);
      const toBare = ({ text }: typeof hidden) => text.replace(/HIDDEN_(ONE|TWO)|"did_you_mean":\[[^\]]*\]/g, '');
      expect(toBare(hidden)).toBe(toBare(absent));
      expect(absent.text).not.toMatch(/HIDDEN_ONE|OPEN_TWA/);
      const near = await read('key=OPEN_TW');
      expect(near.json()).toMatchObject({ did_you_mean: expect.arrayContaining(['OPEN_TWO']) });
      expect(near.text).not.toMatch(HIDDEN);
      for (const more of ['&format=markdown', '&format=skill', '&detail=full']) {
        expect((await read(`key=HIDDEN_ONE${more}`)).status).toBe(404);
        expect((await read(`key=OPEN_ONE${more}`)).text).not.toMatch(/HIDDEN_ONE|OPEN_TWA/);
      }
      expect((await read('key=OPEN_ONE&detail=full')).json<{ related: string[] }>().related).toEqual(['OPEN_TWO']);
    });

    it('browses what the grant covers alone', async () => {
      const root = await read('map=1');
      expect(root.text).not.toMatch(HIDDEN);
      expect(root.json()).toMatchObject({ counts: { rows: COVERED.length, registry: COVERED.length } });
      expect((await read('map=hidden')).status).toBe(404);
      const registry = await read('registry=1&limit=500');
      const { registry: rows, total } = registry.json<{ registry: { key: string }[]; total: number }>();
      expect(rows.map(({ key }) => key).sort()).toEqual(COVERED);
      expect(total).toBe(COVERED.length);
      expect((await read('registry=1&category=hidden')).json()).toMatchObject({ registry: [], total: 0 });
    });

    it('is told by the manifest of what the grant covers alone', async () => {
      const manifest = await holder.get('/api/dispatch');
      expect(manifest.json()).toMatchObject({ counts: { rows: COVERED.length } });
      expect(manifest.text).not.toMatch(HIDDEN);
      const markdown = await holder.get('/api/dispatch?format=markdown');
      expect(markdown.text).toContain(`${COVERED.length} rows`);
      expect(markdown.text).not.toMatch(HIDDEN);
    });

    it('reads by rows what the grant covers alone, and neither prompts nor targets', async () => {
      const shown = await holder.invoke({ key: 'DIR_GET', body: 'OPEN_ONE' });
      expect(shown.json()).toMatchObject({ ok: true, result: { key: 'OPEN_ONE' } });
      expect(shown.text).not.toMatch(/prompt|target/);
      const refused = await holder.invoke({ key: 'DIR_GET', body: 'HIDDEN_ONE' });
      expect(refused.json()).toMatchObject({ error: 'unknown_key' });
      expect(refused.json<{ did_you_mean: string[] }>().did_you_mean.every((key) => COVERED.includes(key))).toBe(true);
      const found = await holder.invoke({ key: 'DIR_SEARCH', body: '50|zebra' });
      const { result } = found.json<{ result: { key: string }[] }>();
      expect(result.map(({ key }) => key).sort()).toEqual(['OPEN_ONE', 'OPEN_TWO']);
    });

    it('cannot tell from a refused call, its receipt or its proof whether there is such a row', async () => {
      const tell = async (key: string) => {
        const answer = await holder.invoke({ key, body: 'a' });
        const { receipt } = answer.json<{ receipt: string }>();
        const texts = [
          answer.text,
          (await holder.get(`/api/dispatch?receipt=${receipt}`)).text,
          (await holder.get(`/api/dispatch?confirm=${receipt}`)).text,
          (await holder.invoke({ key: 'OIP_RECEIPT', body: receipt })).text.replace(/"trace":"[^"]*"/, ''),
        ];
        return texts.map((text) =>
          text.replaceAll(key, 'KEY').replace(/(inv|t)_[0-9a-f]{32}|[0-9a-f]{64}|"\d{4}-[^"]*Z"|"ms":\d+/g, '…'),
        );
      };
      expect(await tell('HIDDEN_ONE')).toEqual(await tell('HIDDEN_TWO'));
    });

    it('is corrected by nothing of a row outside', async () => {
      const call = (key: string) => ({ key, arguments: { input: { a: 'b' } } });
      const texts = await Promise.all(
        ['HIDDEN_ONE', 'HIDDEN_TWO'].map(async (key) => (await holder.invoke(call(key))).text.replaceAll(key, 'KEY')),
      );
      expect(texts[0]).toBe(texts[1]);
    });

    it('reads no row, version, export or count at the addresses of the directory', async () => {
      for (const path of ['', '/OPEN_ONE', '/OPEN_ONE/versions', '/counts']) {
        expect((await holder.get(`/api/directory${path}`)).json()).toMatchObject({ error: 'scope_mismatch' });
      }
      expect((await holder.get('/api/directory:export')).json()).toMatchObject({ error: 'scope_mismatch' });
    });

    it('reads the receipts of its own calls alone', async () => {
      const idOf = async (client: Client) =>
        (await client.invoke({ key: 'OPEN_ONE', body: 'a' })).json<{ proof: { invocation_id: string } }>().proof
          .invocation_id;
      const other = await mintGrant(api, { scope });
      const [own, owners, others] = [await idOf(holder), await idOf(api.owner), await idOf(other.holder)];
      expect((await read(`receipt=${own}`)).json()).toMatchObject({ receipt: { id: own, actor: grant.actor } });
      for (const id of [owners, others]) {
        expect((await read(`receipt=${id}`)).json()).toMatchObject({ error: 'unknown_receipt' });
        for (const key of ['OIP_RECEIPT', 'OIP_TREE']) {
          expect((await holder.invoke({ key, body: id })).json()).toMatchObject({ error: 'unknown_receipt' });
        }
      }
      const reader = await mintGrant(api, { scope: 'read' });
      for (const id of [own, owners, others]) {
        expect((await reader.holder.get(`/api/dispatch?receipt=${id}`)).json()).toMatchObject({ receipt: { id } });
      }
    });
  });
});

describe('a read grant', () => {
  it('sees every row whole, and calls none', async () => {
    const { holder, actor } = await mintGrant(closed, { scope: 'read' });
    expect((await holder.get('/api/dispatch?key=HIDDEN_ONE')).status).toBe(200);
    expect((await holder.get('/api/directory/HIDDEN_ONE')).text).toContain('hidden prompt');
    const answer = await holder.invoke({ key: 'HIDDEN_ONE', body: 'a' });
    expect(answer.json()).toMatchObject({ error: 'scope_mismatch', status: 403 });
    const receipt = answer.json<{ receipt: string }>().receipt;
    expect((await closed.anyone.get(`/api/dispatch?confirm=${receipt}`)).json()).toMatchObject({ actor });
  });
});

describe('anyone, on a server whose contracts are not public', () => {
  it('is told nothing of a row by the correction of a call', async () => {
    const call = (key: string) => ({ key, arguments: { input: { a: 'b' } } });
    const texts = await Promise.all(
      ['HIDDEN_ONE', 'HIDDEN_TWO'].map(async (key) =>
        (await closed.anyone.invoke(call(key))).text.replaceAll(key, 'KEY'),
      ),
    );
    expect(texts[0]).toBe(texts[1]);
  });
});
