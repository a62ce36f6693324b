import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { askAs, findAsk, flushAsks, untilKept } from '../../testing/asks.js';
import { type DatabaseGate, openDatabaseGate } from '../../testing/database-gate.js';
import { startTestApi, type TestApi } from '../../testing/test-api.js';

let api: TestApi;
beforeEach(async () => {
  api = await startTestApi();
});
afterEach(() => api.close());

const count = async () =>
  (await api.context.store.pool.query<{ n: number }>('select count(*)::integer as n from ask')).rows[0]?.n;
/** Asks without a credential, from one address. */
const flood = async (address: string, times: number) => {
  for (let n = 0; n < times; n += 1) {
    const url = `/api/dispatch?ask=question+${address}+${n}`;
    const answer = await api.app.inject({ url, remoteAddress: address });
    expect(answer.json()).toMatchObject({ ask_id: expect.stringMatching(/^ask_/) });
  }
};

describe('a flood of asks', () => {
  it('by anyone is answered, and kept in bounds: by address, and together', async () => {
    await flood('10.9.0.1', 70);
    expect(api.context.asks.dropped).toBe(10);
    for (const host of [2, 3, 4, 5]) await flood(`2001:db8::${host}`, 20);
    expect(api.context.asks.dropped).toBe(30);
    await flood('10.9.0.3', 5);
    expect(api.context.asks.dropped).toBe(35);
    const { id } = await askAs(api.owner, 'what time is it');
    await flushAsks(api);
    expect(await count()).toBe(121);
    expect(await findAsk(api, id)).toBeDefined();
    expect((await api.owner.get('/api/asks/quality')).json()).toMatchObject({ asks: 121, dropped: 35 });
  });
});

describe('while the database is away', () => {
  let gate: DatabaseGate;
  let cut: TestApi;
  beforeEach(async () => {
    gate = await openDatabaseGate(api.databaseUrl);
    cut = await startTestApi({ databaseUrl: gate.url });
  });
  afterEach(async () => {
    await cut.close();
    await gate.close();
  });

  it('asks are answered, and written when it is back', async () => {
    await gate.cut();
    const { id } = await askAs(cut.owner, 'what time is it');
    await expect(cut.context.asks.flush()).rejects.toThrow();
    await gate.restore();
    expect(await untilKept(api, id)).toMatchObject({ question: 'what time is it', times: 1 });
  });

  it('ten thousand asks wait; more are answered, dropped and counted', async () => {
    const asked = { keys: ['NOW'], best: 'NOW', confidence: 1, category: 'time' };
    const record = (n: number) =>
      cut.context.asks.record({ ...asked, question: `question ${n}`, actor: `cap:${n % 50}` });
    await gate.cut();
    for (let n = 0; n < 10_003; n += 1) expect(record(n)).toMatch(/^ask_/);
    expect(cut.context.asks.dropped).toBe(3);
    await expect(cut.context.asks.flush()).rejects.toThrow();
    record(10_003);
    expect(cut.context.asks.dropped).toBe(4);
    await gate.restore();
    await cut.context.asks.flush();
    expect(await count()).toBe(10_000);
  });
});

describe('a stop', () => {
  it('writes the asks and reads that wait', async () => {
    const stopped = await startTestApi({ databaseUrl: api.databaseUrl });
    const { id } = await askAs(stopped.anyone, 'what time is it');
    await stopped.anyone.get(`/api/dispatch?key=NOW&ask_id=${id}`);
    await stopped.close();
    expect(await findAsk(api, id)).toMatchObject({ read_keys: ['NOW'] });
  });
});
