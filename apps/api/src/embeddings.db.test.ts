import { isProjected, toEmbeddingText } from '@rowcall/catalogue';
import { sha256 } from '@rowcall/receipts';
import { saveRowEmbeddings } from '@rowcall/store';
import { type EmbeddingsServer, sendTestVectors, startEmbeddingsServer } from '@rowcall/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startTestApi, type TestApi } from './testing/test-api.js';

const KEY = 'sk-a-key-that-nobody-may-see';

let server: EmbeddingsServer;
let api: TestApi;
beforeAll(async () => {
  server = await startEmbeddingsServer();
  const embeddings = { url: server.url, model: 'model-a', key: KEY, dimensions: 16 };
  api = await startTestApi({ config: { embeddings }, logLevel: 'debug' });
});
afterAll(async () => {
  await api.close();
  await server.close();
});

interface Readiness {
  readonly embeddings: { readonly rows: number; readonly covered: number; readonly coverage: number } | null;
}
const coverageOf = async (of = api) => (await of.anyone.get('/readyz')).json<Readiness>().embeddings;

/** Stores vectors of all rows that search shows, as a runner does. */
async function embedRows(): Promise<void> {
  const { catalogue, store } = api.context;
  const rows = [...catalogue.list()].map(({ row }) => row).filter(isProjected);
  const embeddings = rows.map((row) => ({
    key: row.key,
    version: row.version,
    textSha256: sha256(toEmbeddingText(row)),
    scale: 0.01,
    vector: Int8Array.from({ length: 16 }, (_, at) => at),
  }));
  await saveRowEmbeddings(store.db, 'model-a#16', embeddings);
}

describe('an API process with a service of embeddings', () => {
  it('is ready without any vector, and tells how many rows it has one of', async () => {
    const answer = await api.anyone.get('/readyz');
    const { projected } = api.context.catalogue.counts;
    expect(answer).toMatchObject({ status: 200 });
    expect(answer.json()).toMatchObject({
      ready: true,
      embeddings: { model: 'model-a#16', rows: projected, covered: 0, coverage: 0 },
    });
    await embedRows();
    const all = { model: 'model-a#16', rows: projected, covered: projected, coverage: 1 };
    await vi.waitFor(async () => expect(await coverageOf()).toEqual(all), 5_000);
  });

  it('covers a row no longer whose text changed, until its new vector is there', async () => {
    const change = await api.owner.send('PATCH', '/api/directory/NOW', {
      body: { content: '# WHAT: Another text.' },
    });
    expect(change.status).toBe(200);
    const left = await coverageOf();
    expect(left?.covered).toBe((left?.rows ?? 0) - 1);
    expect(left?.coverage).toBeLessThan(1);
    await embedRows();
    await vi.waitFor(async () => expect((await coverageOf())?.coverage).toBe(1), 5_000);
  });

  it('has the vector of a question, or does without when the service does not answer', async () => {
    const { embedder } = api.context;
    const embedded = await embedder.embedQuestion('what time is it', 20_000);
    expect(embedded).toMatchObject({ state: 'embedding', vector: { length: 16 } });
    expect(server.requests.at(-1)).toMatchObject({ authorization: `Bearer ${KEY}`, dimensions: 16 });
    const release = server.hold();
    expect(await embedder.embedQuestion('something else', 50)).toEqual({ state: 'embedding_late' });
    release();
  });

  it('ranks by words what strangers ask too often, and asks the service for 120 of their questions a minute at the most', async () => {
    server.answer = sendTestVectors;
    const before = server.requests.length;
    const rankings: string[] = [];
    for (let index = 0; index < 125; index += 1) {
      const answer = await api.anyone.get(`/api/dispatch?ask=question+number+${index}+of+strangers`);
      expect(answer.status).toBe(200);
      rankings.push(answer.json<{ ranking: string }>().ranking);
    }
    expect(server.requests.length - before).toBeLessThanOrEqual(120);
    expect(rankings.slice(120)).toEqual(Array(5).fill('embedding_late'));
    expect((await api.owner.get('/api/dispatch?ask=a+question+of+the+owner')).json()).not.toMatchObject({
      ranking: 'lexical',
    });
    expect(server.requests.length - before).toBeGreaterThan(0);
  });

  it('has its key in no line of the log', () => {
    expect(api.log.join('\n')).not.toContain(KEY);
  });
});

describe('an API process without one', () => {
  it('has no coverage, and no vectors', async () => {
    const plain = await startTestApi();
    expect(await coverageOf(plain)).toBeNull();
    expect(await plain.context.embedder.embedQuestion('what time is it', 50)).toEqual({ state: 'off' });
    await plain.close();
  });
});
