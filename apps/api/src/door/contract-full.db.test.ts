import { testStore } from '@rowcall/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openDatabaseGate } from '../testing/database-gate.js';
import { importLines, makeLine } from '../testing/import.js';
import { startTestApi, type TestApi } from '../testing/test-api.js';

const TOKEN = 'tok-aa04be19d3';
let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ credentials: { FULL_TOKEN: TOKEN } });
});
afterAll(() => api.close());

const url = (key: string) => `/api/dispatch?key=${key}&detail=full`;
interface Full {
  readonly measured: Readonly<Record<string, unknown>>;
  readonly history: readonly object[];
  readonly related: readonly string[];
  readonly troubleshooting: object;
}
const readFull = async (key: string): Promise<Full> => (await api.owner.get(url(key))).json<Full>();

describe('detail=full', () => {
  it('adds to the contract and changes nothing of it', async () => {
    const brief = (await api.anyone.get('/api/dispatch?key=NOW')).json();
    expect((await api.anyone.get(url('NOW'))).json()).toMatchObject(brief);
    expect(brief).not.toHaveProperty('measured');
  });

  it('tells what was measured of real calls, refusals apart', async () => {
    await importLines(api.owner, [makeLine('MEASURED')]);
    for (const body of ['a', 'b', 'c']) await api.owner.invoke({ key: 'MEASURED', body });
    await api.owner.invoke({ key: 'MEASURED', body: 'a', expect_contract: '0'.repeat(64) });
    const { measured, troubleshooting } = await readFull('MEASURED');
    expect(measured).toEqual({
      days: 30,
      calls: 3,
      success_rate: 1,
      p50_ms: expect.any(Number),
      p99_ms: expect.any(Number),
      last_good_example: { body: 'c' },
    });
    const last = { code: 'contract_changed', count: 1, last_at: expect.stringMatching(/Z$/) };
    expect(troubleshooting).toEqual({ missing_credentials: [], last_errors: [last] });
  });

  it('of a row that was never called measures nothing', async () => {
    await importLines(api.owner, [makeLine('UNCALLED')]);
    expect((await readFull('UNCALLED')).measured).toMatchObject({
      calls: 0,
      success_rate: null,
      last_good_example: null,
    });
  });

  it('names credentials that are not set, never a value', async () => {
    const row = { type: 'http', target: 'GET https://api.example/', auth: 'basic:FULL_UNSET:FULL_TOKEN' };
    await importLines(api.owner, [makeLine('NEEDS', row)]);
    const { text } = await api.owner.get(url('NEEDS'));
    expect(JSON.parse(text)).toMatchObject({ troubleshooting: { missing_credentials: ['FULL_UNSET'] } });
    expect(text).not.toContain(TOKEN);
  });

  it('shows the last good example as it is kept: without the value of a credential', async () => {
    await importLines(api.owner, [makeLine('QUOTES', { content: '# WHAT: Echo.\n["ok $2"]', examples: ['a|b'] })]);
    await api.owner.get(url('NEEDS'));
    await api.owner.invoke({ key: 'QUOTES', body: `${TOKEN}|x` });
    const { text } = await api.owner.get(url('QUOTES'));
    expect(text).toContain('last_good_example');
    expect(text).not.toContain(TOKEN);
  });

  it('names the nearest rows of the category, five at the most, and not the row itself', async () => {
    const content = '# WHAT: Converts a colour.';
    const near = Array.from({ length: 7 }, (_, index) => makeLine(`COLOUR_${index}`, { content, category: 'colour' }));
    await importLines(api.owner, [...near, makeLine('COLOUR_ELSEWHERE', { content, category: 'other' })]);
    const { related } = await readFull('COLOUR_3');
    expect(related).toHaveLength(5);
    expect(related.filter((key) => !/^COLOUR_[0-24-6]$/.test(key))).toEqual([]);
  });

  it('tells the last ten versions', async () => {
    await importLines(api.owner, [makeLine('OLD')]);
    for (let seq = 1; seq <= 11; seq += 1) await importLines(api.owner, [makeLine('OLD', { seq })]);
    const { history } = await readFull('OLD');
    expect(history).toHaveLength(10);
    expect(history[0]).toEqual({ version: 12, at: expect.stringMatching(/Z$/), actor: 'owner' });
  });

  it('tells actors and the last good example to the owner alone', async () => {
    const answer = await api.anyone.get(url('MEASURED'));
    expect(answer.json()).toMatchObject({ measured: { calls: 3 }, history: [{ version: 1 }] });
    expect(answer.text).not.toMatch(/"actor"|last_good_example/);
    expect((await api.owner.get(url('MEASURED'))).headers['cache-control']).toBe('no-store');
  });

  it.each([
    ['key=NOW&detail=full&format=markdown', 400],
    ['key=NOW&detail=full&format=skill', 400],
    ['key=NOW&detail=some', 400],
    ['ask=time&detail=full', 400],
    ['key=NEVER_WAS&detail=full', 404],
    ['key=NOW&detail=full&format=json', 200],
  ])('(%s) answers %i', async (query, status) => {
    expect(await api.anyone.get(`/api/dispatch?${query}`)).toMatchObject({ status });
  });
});

it('detail=full needs the owner where contracts do', async () => {
  const closed = await startTestApi({ config: { publicContracts: false } });
  expect(await closed.anyone.get(url('NOW'))).toMatchObject({ status: 401 });
  expect(await closed.owner.get(url('NOW'))).toMatchObject({ status: 200 });
  await closed.close();
});

it('detail=full answers without what the database alone knows while it is away, and says so', async () => {
  const database = await testStore();
  const gate = await openDatabaseGate(database.url);
  const away = await startTestApi({ databaseUrl: gate.url });
  await away.context.store.pool.query('select 1');
  await gate.cut();
  // At once, when the process has perhaps not heard of it; and when it has.
  for (let round = 0; round < 2; round += 1) {
    const answer = await away.owner.get(url('NOW'));
    expect(answer.status).toBe(200);
    expect(answer.json()).toMatchObject({ key: 'NOW', stale: true, troubleshooting: { missing_credentials: [] } });
    expect(answer.text).not.toMatch(/"history"|"measured"|"last_errors"/);
    await vi.waitUntil(() => away.context.catalogue.staleSince !== undefined, 5_000);
  }
  await away.close();
  await gate.close();
  await database.drop();
});
