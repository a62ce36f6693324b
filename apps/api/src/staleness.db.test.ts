import { testStore } from '@rowcall/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type DatabaseGate, openDatabaseGate } from './testing/database-gate.js';
import { startTestApi, type TestApi } from './testing/test-api.js';

let database: Awaited<ReturnType<typeof testStore>>;
let gate: DatabaseGate;
let api: TestApi;

beforeAll(async () => {
  database = await testStore();
  gate = await openDatabaseGate(database.url);
  api = await startTestApi({ databaseUrl: gate.url });
  await api.context.store.pool.query('select 1');
  await gate.cut();
  await vi.waitUntil(() => api.context.catalogue.staleSince !== undefined, 5_000);
});
afterAll(async () => {
  await api.close();
  await gate.close();
  await database.drop();
});

const STALE = { stale_since: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) };

// One story in order: the database is away, then it is back.
describe('while the database is out of reach', () => {
  it.each(['ask=what+time+is+it', 'key=NOW', 'map=1', 'map=time', 'registry=1', ''])(
    '?%s still answers from memory, and says since when changes may be missing',
    async (query) => {
      const answer = await api.anyone.get(`/api/dispatch?${query}`);
      expect(answer.status).toBe(200);
      expect(answer.json()).toMatchObject(STALE);
    },
  );

  it('a contract keeps within its bytes', async () => {
    const { text } = await api.anyone.get('/api/dispatch?key=NOW');
    expect(Buffer.byteLength(text)).toBeLessThan(2_048);
  });

  it('nothing is invoked', async () => {
    const answer = await api.owner.invoke({ key: 'NOW', body: '' });
    expect(answer.status).toBe(503);
    expect(answer.json()).toMatchObject({ error: 'ledger_unavailable', ...STALE });
  });

  it('nothing is changed or confirmed, and the answer says why', async () => {
    const row = { key: 'LATE', type: 'fn', target: 'ECHO', content: '# WHAT: Echo.', examples: ['a'] };
    const answers = [
      await api.owner.post('/api/directory', row),
      await api.owner.send('DELETE', '/api/directory/NOW'),
      await api.anyone.get(`/api/dispatch?confirm=inv_${'0'.repeat(32)}`),
      await api.anyone.get(`/receipt/inv_${'0'.repeat(32)}`),
    ];
    for (const answer of answers) expect(answer.json()).toMatchObject({ status: 503, error: 'database_unavailable' });
  });

  it('the process lives, but is not ready', async () => {
    expect(await api.anyone.get('/livez')).toMatchObject({ status: 200 });
    const answer = await api.anyone.get('/readyz');
    expect(answer.status).toBe(503);
    expect(answer.json()).toMatchObject({ ready: false, rows: 47, ...STALE });
  });

  it('refusals are counted on until they can be written', async () => {
    await api.app.inject({ method: 'GET', url: '/api/directory', remoteAddress: '192.0.2.1' });
    await expect(api.context.refusals.flush()).rejects.toThrow();
    await api.app.inject({ method: 'GET', url: '/api/directory', remoteAddress: '192.0.2.1' });
  });
});

describe('when the database is back', () => {
  beforeAll(async () => {
    // A change of another process that no notification told of.
    await database.store.pool.query(`update directory set category = 'moved' where key = 'UPPER'`);
    await gate.restore();
    await vi.waitUntil(() => api.context.catalogue.staleSince === undefined, 5_000);
  });

  it('what was changed meanwhile is there', async () => {
    const answer = await api.anyone.get('/api/dispatch?map=moved');
    expect(answer.json()).toMatchObject({ children: [{ key: 'UPPER' }] });
    expect(answer.json()).not.toHaveProperty('stale_since');
  });

  it('the process is ready and invokes', async () => {
    expect(await api.anyone.get('/readyz')).toMatchObject({ status: 200 });
    expect((await api.owner.invoke({ key: 'ECHO', body: 'a' })).json()).toMatchObject({ ok: true });
  });

  it('a call that falls into a short loss of the connection waits for its end', async () => {
    const { rowCount } = await database.store.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name = 'rowcall-api-listen'`,
    );
    expect(rowCount).toBe(1);
    await vi.waitUntil(() => api.context.catalogue.staleSince !== undefined, { timeout: 5_000, interval: 1 });
    expect((await api.owner.invoke({ key: 'ECHO', body: 'a' })).json()).toMatchObject({ ok: true });
    expect(api.context.catalogue.staleSince).toBeUndefined();
  });

  it('the refusals of the whole time are written', async () => {
    await api.context.refusals.flush();
    const { rows } = await database.store.pool.query(`select detail from event where kind = 'UNAUTHORIZED'`);
    expect(rows).toEqual([{ detail: { address: '192.0.2.1', count: 2 } }]);
  });
});
