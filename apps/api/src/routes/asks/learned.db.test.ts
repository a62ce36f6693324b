import { LearnedPairs } from '@rowcall/engine';
import { silentLog } from '@rowcall/protocol';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { askAs, flushAsks } from '../../testing/asks.js';
import { openDatabaseGate } from '../../testing/database-gate.js';
import { startTestApi, type TestApi } from '../../testing/test-api.js';

const PAIR = { question: 'what time is it', key: 'NOW', count: 1 };
const soon = { timeout: 10_000, interval: 20 };

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  const { id } = await askAs(api.owner, PAIR.question);
  await flushAsks(api);
  await api.owner.invoke({ key: PAIR.key, body: '', ask_id: id });
});
afterAll(() => api.close());

describe('what calls taught', () => {
  it('is known to a process that is told to learn, and to no other', async () => {
    const learning = await startTestApi({ databaseUrl: api.databaseUrl, config: { learn: true } });
    await vi.waitFor(() => expect(learning.context.catalogue.learned).toEqual([PAIR]), soon);
    await learning.close();
    expect(api.context.catalogue.learned).toEqual([]);
  });

  it('is read anew from time to time, and kept while the database is away', async () => {
    const gate = await openDatabaseGate(api.databaseUrl);
    const cut = await startTestApi({ databaseUrl: gate.url });
    const { store, catalogue } = cut.context;
    const warnings: unknown[] = [];
    const log = { ...silentLog, warn: (...line: unknown[]) => void warnings.push(line) };
    const learned = new LearnedPairs({ store, catalogue, log, everyMs: 10 });
    learned.start();
    await vi.waitFor(() => expect(catalogue.learned).toEqual([PAIR]), soon);
    await gate.cut();
    await vi.waitFor(() => expect(warnings.length).toBeGreaterThan(0), soon);
    expect(catalogue.learned).toEqual([PAIR]);
    await gate.restore();
    await catalogue.setLearned([]);
    await vi.waitFor(() => expect(catalogue.learned).toEqual([PAIR]), soon);
    await learned.stop();
    await cut.close();
    await gate.close();
  });
});
