import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../../testing/test-api.js';

let api: TestApi;
let neighbour: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  neighbour = await startTestApi({ databaseUrl: api.databaseUrl });
});
afterAll(async () => {
  await neighbour.close();
  await api.close();
});

const ROW = { type: 'fn', target: 'ECHO', content: '# WHAT: Echo.', examples: ['a'] };
const create = (row: object) => api.owner.post('/api/directory', row);
const countVersions = async (): Promise<number> =>
  (await api.context.store.pool.query('select count(*)::int as n from directory_version')).rows[0].n;

describe('POST /api/directory', () => {
  it('answers the whole row, its address and its version', async () => {
    const answer = await create({ key: 'FIRST', ...ROW });
    expect(answer.status).toBe(201);
    expect(answer.headers).toMatchObject({ location: 'http://127.0.0.1:8787/api/directory/FIRST', etag: '"1"' });
    expect(answer.json()).toEqual({
      key: 'FIRST',
      type: 'fn',
      target: 'ECHO',
      auth: null,
      content: '# WHAT: Echo.',
      category: '',
      allowed_categories: [],
      seq: 0,
      enabled: true,
      planner_visible: true,
      planner_rank: 100,
      input_schema: null,
      examples: ['a'],
      sensitive: false,
      runner: null,
      includes: [],
      effect: null,
      pinned_for: [],
      demoted: false,
      headers: null,
      limits: null,
      source: 'manual',
      version: 1,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      updated_at: expect.any(String),
    });
  });

  it('makes the row usable at once, for reading and for calling', async () => {
    await create({ key: 'AT_ONCE', ...ROW });
    expect(await api.anyone.get('/api/dispatch?key=AT_ONCE')).toMatchObject({ status: 200 });
    expect((await api.owner.invoke({ key: 'AT_ONCE', body: 'a' })).json()).toMatchObject({ ok: true, result: 'a' });
  });

  it('makes the row usable in every other process as soon as it is notified', async () => {
    const notified = new Promise<void>((resolve) => {
      const timer = setInterval(() => {
        if (neighbour.context.catalogue.find('NEXT_DOOR') === undefined) return;
        clearInterval(timer);
        resolve();
      }, 1);
    });
    await create({ key: 'NEXT_DOOR', ...ROW });
    await notified;
    expect(await neighbour.anyone.get('/api/dispatch?key=NEXT_DOOR')).toMatchObject({ status: 200 });
    expect((await neighbour.owner.invoke({ key: 'NEXT_DOOR', body: 'a' })).json()).toMatchObject({ ok: true });
    expect((await neighbour.anyone.get('/api/dispatch?ask=NEXT_DOOR')).json()).toMatchObject({
      best: { key: 'NEXT_DOOR' },
    });
  });

  it('takes JSON fields as strings that hold JSON and booleans as 0 and 1, and answers JSON and booleans', async () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
    const answer = await create({
      key: 'BOTH_FORMS',
      ...ROW,
      input_schema: JSON.stringify(schema),
      examples: '["x"]',
      limits: '{"timeout_ms":500}',
      headers: '',
      pinned_for: '["both forms"]',
      enabled: 1,
      planner_visible: '0',
      sensitive: 'true',
      demoted: 0,
    });
    expect(answer.status).toBe(201);
    expect(answer.json()).toMatchObject({
      input_schema: schema,
      examples: ['x'],
      limits: { timeout_ms: 500 },
      headers: null,
      pinned_for: ['both forms'],
      enabled: true,
      planner_visible: false,
      sensitive: true,
      demoted: false,
    });
  });

  it.each([{}, { required: [] }])('keeps the order in which arguments were written (%j)', async (more) => {
    const properties = { zeta: { type: 'string' }, alpha: { type: 'string' }, m: { type: 'string' } };
    const key = 'required' in more ? 'ORDERED_2' : 'ORDERED_1';
    const row = { ...ROW, key, content: '# WHAT: Order.\n["$1-$2-$3"]', examples: ['1|2|3'] };
    await create({ ...row, input_schema: { type: 'object', properties, ...more } });
    const { rows } = await api.context.store.pool.query('select input_schema from directory where key = $1', [key]);
    expect(rows[0].input_schema['x-arg-order']).toEqual(['zeta', 'alpha', 'm']);
    expect((await api.owner.invoke({ key, args: { m: '3', zeta: '1', alpha: '2' } })).json()).toMatchObject({
      result: '1-2-3',
    });
  });

  it('of a key that is there is a conflict', async () => {
    expect((await create({ key: 'NOW', ...ROW })).json()).toMatchObject({ status: 409, error: 'key_exists' });
  });

  it('names every hygiene rule that the row breaks, with how to mend it, and changes nothing', async () => {
    const before = await countVersions();
    const answer = await create({ key: 'DIRTY', type: 'fn', target: 'NO_SUCH', sensitive: true, content: '["$1' });
    expect(answer.status).toBe(422);
    const { error, violations } = answer.json<{ error: string; violations: { code: string; fix: string }[] }>();
    expect(error).toBe('hygiene_refused');
    expect(violations.map(({ code }) => code).sort()).toEqual([
      'bad_template',
      'high_risk_missing_schema',
      'keyless_missing_examples',
      'missing_description',
      'unknown_function',
    ]);
    for (const { fix } of violations) expect(fix).not.toBe('');
    expect(await countVersions()).toBe(before);
    expect(await api.anyone.get('/api/dispatch?key=DIRTY')).toMatchObject({ status: 404 });
  });

  it.each([
    ['a schema that does not compile', { input_schema: { type: 'object', properties: 7 } }, 'bad_input_schema'],
    [
      'examples that do not fit',
      { input_schema: { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } } },
      'bad_examples',
    ],
    ['an auth that cannot be read', { type: 'http', target: 'GET http://x.example/', auth: 'password:X' }, 'bad_auth'],
    [
      'a credential of the server itself',
      { type: 'http', target: 'GET http://x.example/', auth: 'bearer:DATABASE_URL' },
      'bad_auth',
    ],
    ['no target', { type: 'http', target: '' }, 'missing_target'],
    ['a URL that is none', { type: 'http', target: 'GET /relative' }, 'bad_template'],
  ])('refuses %s', async (_what, row, code) => {
    const answer = await create({ key: 'BROKEN', ...ROW, ...row });
    expect(answer.status).toBe(422);
    expect(answer.json()).toMatchObject({ violations: expect.arrayContaining([expect.objectContaining({ code })]) });
  });

  it.each([
    ['no key', { key: undefined }, 'key'],
    ['no type', { type: undefined }, 'type'],
    ['a key in lower case', { key: 'now' }, 'key'],
    ['a key of 65 characters', { key: 'A'.repeat(65) }, 'key'],
    ['a key with a break', { key: 'A\n' }, 'key'],
    ['a type that is none', { type: 'sql' }, 'type'],
    ['a column that is none', { colour: 'red' }, 'colour'],
    ['the version', { version: 7 }, 'version'],
    ['the fingerprint', { fingerprint: 'a'.repeat(64) }, 'fingerprint'],
    ['the time of its making', { created_at: '2020-01-01T00:00:00Z' }, 'created_at'],
    ['a number as text', { seq: 'first' }, 'seq'],
    ['a number that Postgres cannot hold', { seq: 3_000_000_000 }, 'out of range'],
    ['JSON that is none', { input_schema: '{' }, 'input_schema'],
    ['an unknown limit', { limits: { speed: 1 } }, 'speed'],
    ['a NUL', { content: '# WHAT: a\0b' }, 'content'],
    ['half a surrogate pair', { category: '\ud800' }, 'category'],
    ['a NUL in a schema', { input_schema: { type: 'object', description: 'a\0b' } }, 'input_schema'],
    ['half a surrogate pair in a schema', { input_schema: { type: 'object', '\ud800': 1 } }, 'input_schema'],
    ['a NUL in a header', { headers: { 'a\0': 'b' } }, 'cannot be stored'],
  ])('refuses %s by name', async (_what, row, named) => {
    const answer = await create({ key: 'BROKEN', ...ROW, ...row });
    expect([400, 422]).toContain(answer.status);
    expect(answer.text).toContain(named);
    expect(await api.owner.get('/api/directory/BROKEN')).toMatchObject({ status: 404 });
  });

  it('keeps the reason of the change in the history and in the event', async () => {
    await api.owner.post('/api/directory', { key: 'WHY', ...ROW }, { 'x-reason': 'because' });
    expect((await api.owner.get('/api/directory/WHY/versions')).json()).toMatchObject({
      versions: [{ version: 1, actor: 'owner', reason: 'because' }],
    });
    const { rows } = await api.context.store.pool.query(`select kind, reason, detail from event where key = 'WHY'`);
    expect(rows).toEqual([{ kind: 'DIRECTORY_MUTATE', reason: 'because', detail: { action: 'insert', version: 1 } }]);
  });
});
