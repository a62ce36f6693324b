import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../testing/client.js';
import { LEAKING_WAYS, type LeakingUpstream, startLeakingUpstream } from '../testing/leaking-upstream.js';
import { buildHaystack, dumpTables, type Haystack } from '../testing/secret-search.js';
import { startTestApi, type TestApi } from '../testing/test-api.js';

/** A value for each variable, so that a value that is found tells where it came from. */
const CREDENTIALS = {
  BEARER_PLAIN: 'bearer-4f1d77c0a2',
  BEARER_ODD: 'b3ar/er+"\\&<=>%25,0x',
  BASIC_ALONE: 'alone-5b8e11f0c9',
  BASIC_USER: 'user-7c1d99aa02',
  BASIC_PASS: "p@ss:w0rd/ é+'~!",
  HEADER_KEY: 'h3ader key;"q"=\\1',
  QUERY_KEY: 'qu3ry/key+&?=#% ü',
  CLIENT_CLIENT_SECRET: 'cl1ent/secret+%"x',
  REFRESH_CLIENT_SECRET: 'r3fresh/secret+%"y',
  REFRESH_REFRESH_TOKEN: 'f1rst/refresh+%"z',
  REFUSED_CLIENT_SECRET: 'r3fused/secret+%"w',
} as const;
/** No credential: sent and given back beside each of them, it shows that the search finds what is there. */
const MARKER = 'm4rker/+"\\&<=>%25,0x';

const AUTHS = {
  BEARER: 'bearer:BEARER_PLAIN',
  ODD: 'bearer:BEARER_ODD',
  ALONE: 'basic:BASIC_ALONE',
  PAIR: 'basic:BASIC_USER:BASIC_PASS',
  HEADER: 'header:X-Key=HEADER_KEY',
  QUERY: 'query:key=QUERY_KEY',
  CLIENT: 'oauth:client',
  REFRESH: 'oauth:refresh',
} as const;
type AuthName = keyof typeof AUTHS;
const NAMES = Object.keys(AUTHS) as AuthName[];

let api: TestApi;
let upstream: LeakingUpstream;
/** Every answer so far, headers included. */
const answers: string[] = [];

function keep(answer: Answer): Answer {
  answers.push(`${JSON.stringify(answer.headers)}\n${answer.text}`);
  return answer;
}

async function addRow(key: string, row: object): Promise<void> {
  const answer = await api.owner.post('/api/directory', {
    key,
    type: 'http',
    content: '# WHAT: Leaks.',
    examples: ['plain'],
    ...row,
  });
  expect(answer, answer.text).toMatchObject({ status: 201 });
}

/** Rows of one auth: one that writes, one that reads, and those that cannot reach anything. */
async function addRows(name: AuthName): Promise<void> {
  const auth = AUTHS[name];
  const headers = { 'X-Marker': MARKER };
  const limits = { timeout_ms: 700, max_response_bytes: 20_000 };
  await addRow(`${name}_WRITES`, {
    target: `POST ${upstream.url}/$1`,
    auth,
    headers,
    limits,
    content: '# WHAT: W.\n{"a":"$2"}',
  });
  await addRow(`${name}_READS`, { target: `GET ${upstream.url}/$1`, auth, headers, limits, content: '# WHAT: R.' });
  await addRow(`${name}_INSIDE`, { target: 'POST http://10.0.0.1/$1', auth, headers });
  await addRow(`${name}_NOBODY`, { target: 'POST http://127.0.0.1:1/$1', auth, headers });
  await addRow(`${name}_LANE`, { target: `POST ${upstream.url}/plain`, auth, headers, runner: 'default' });
}

/** Everything that one call leaves which can be read. */
async function readAll(answer: Answer): Promise<void> {
  const { proof, receipt } = keep(answer).json<{ proof?: { invocation_id: string }; receipt?: string }>();
  const id = proof?.invocation_id ?? receipt;
  if (id === undefined) throw new Error(`a call left no receipt: ${answer.text}`);
  keep(await api.owner.get(`/api/dispatch?receipt=${id}`));
  keep(await api.anyone.get(`/api/dispatch?confirm=${id}`));
  keep(await api.anyone.get(`/receipt/${id}`));
}

/** Calls of one auth in every way there is. */
async function callAll(name: AuthName): Promise<void> {
  for (const way of LEAKING_WAYS) await readAll(await api.owner.invoke({ key: `${name}_WRITES`, body: `${way}|x` }));
  await readAll(await api.owner.invoke({ key: `${name}_INSIDE`, body: 'x' }));
  await readAll(await api.owner.invoke({ key: `${name}_NOBODY`, body: 'x' }));
  // A caller that knows a value, and one that is told no.
  for (const value of toValues(name)) {
    await readAll(await api.owner.invoke({ key: `${name}_WRITES`, args: { note: value } }));
    await readAll(await api.owner.invoke({ key: `${name}_WRITES`, body: 'plain', on_behalf_of: value }));
    const key = `${name}_READS`;
    await readAll(
      await api.owner.invoke({ key: 'DIR_PATCH', args: { key, category: value.length.toString() }, reason: value }),
    );
    // The refusal names the key to the caller who sent it; what is kept must not.
    await api.owner.invoke({ key: value, body: 'the key is a value by mistake' });
    await readAll(await api.owner.invoke({ key: `${name}_WRITES`, body: `plain|${value}`, reason: value }));
    await readAll(await api.owner.invoke({ key: `${name}_WRITES`, body: value, expect_contract: '0'.repeat(64) }));
    keep(await api.owner.invoke({ key: `${name}_WRITES`, body: `plain|${value}`, shape: true }));
  }
}

/** What stands beside the calls themselves. */
async function readAround(name: AuthName): Promise<void> {
  for (const kind of ['WRITES', 'READS', 'INSIDE', 'LANE']) {
    const key = `${name}_${kind}`;
    keep(await api.owner.invoke({ key, body: 'plain', shape: true }));
    keep(await api.owner.post(`/api/directory/${key}/test`, {}));
    keep(await api.owner.invoke({ key, body: 'plain', mode: 'async' }));
    keep(await api.owner.get(`/api/directory/${key}`));
    for (const more of ['', '&detail=full', '&format=markdown', '&format=skill']) {
      keep(await api.owner.get(`/api/dispatch?key=${key}${more}`));
    }
  }
}

/** A call whose receipt cannot be written: the log tells of it. */
async function breakLedger(): Promise<void> {
  const { pool } = api.context.store;
  await pool.query('alter table receipt rename to hidden');
  for (const name of NAMES) keep(await api.owner.invoke({ key: `${name}_WRITES`, body: 'plain', reason: MARKER }));
  await pool.query('alter table hidden rename to receipt');
}

/** The values that rows of one auth send, and the forms in which they are sent. */
function toValues(name: AuthName): readonly string[] {
  const { BEARER_PLAIN, BEARER_ODD, BASIC_ALONE, BASIC_USER, BASIC_PASS, HEADER_KEY, QUERY_KEY } = CREDENTIALS;
  const basic = (user: string, password = '') => Buffer.from(`${user}:${password}`).toString('base64');
  switch (name) {
    case 'BEARER':
      return [BEARER_PLAIN];
    case 'ODD':
      return [BEARER_ODD];
    case 'ALONE':
      return [BASIC_ALONE, basic(BASIC_ALONE)];
    case 'PAIR':
      return [BASIC_USER, BASIC_PASS, basic(BASIC_USER, BASIC_PASS)];
    case 'HEADER':
      return [HEADER_KEY];
    case 'QUERY':
      return [QUERY_KEY];
    case 'CLIENT':
      // The refresh token that came unasked for is thrown away.
      return [CREDENTIALS.CLIENT_CLIENT_SECRET, ...upstream.issued('client').slice(0, 1)];
    case 'REFRESH':
      return [CREDENTIALS.REFRESH_CLIENT_SECRET, CREDENTIALS.REFRESH_REFRESH_TOKEN, ...upstream.issued('refresh')];
  }
}

let places: Readonly<Record<'answers' | 'log' | 'tables', Haystack>>;

beforeAll(async () => {
  upstream = await startLeakingUpstream();
  const settings = Object.fromEntries(
    ['CLIENT', 'REFRESH', 'REFUSED'].flatMap((label) => [
      [`${label}_CLIENT_ID`, `id-of-${label}`],
      [`${label}_TOKEN_URL`, `${upstream.url}/token-of-${label.toLowerCase()}`],
    ]),
  );
  api = await startTestApi({
    credentials: { ...CREDENTIALS, ...settings },
    logLevel: 'trace',
    config: { secretKey: 'the secret key of the server' },
  });
  for (const name of NAMES) await addRows(name);
  for (const name of NAMES) {
    await callAll(name);
    await readAround(name);
  }
  await addRow('REFUSED', { target: `POST ${upstream.url}/plain`, auth: 'oauth:refused' });
  await readAll(await api.owner.invoke({ key: 'REFUSED', body: '' }));
  await breakLedger();
  for (const url of ['', '?ask=leaks', '?map=1', '?registry=1']) keep(await api.owner.get(`/api/dispatch${url}`));
  keep(await api.owner.get('/api/directory:export'));
  const [log, tables] = [api.log.join(''), await dumpTables(api.context.store)];
  places = { answers: buildHaystack(answers.join('\n')), log: buildHaystack(log), tables: buildHaystack(tables) };
}, 300_000);
afterAll(async () => {
  await api.close();
  await upstream.close();
});

describe('the search', () => {
  it('had something to find: every credential reached the upstream, in every way of giving it back', () => {
    const sent = buildHaystack(upstream.arrived.join('\n'));
    for (const value of NAMES.flatMap(toValues)) expect([value, sent.findForms(value)]).not.toEqual([value, []]);
    const rare = LEAKING_WAYS.filter((way) => (upstream.asked.get(way) ?? 0) < NAMES.length);
    expect(rare).toEqual([]);
  });

  it('finds a value that is no credential in each of its forms', () => {
    const found = places.answers.findForms(MARKER);
    expect(found).toEqual(
      expect.arrayContaining(['plain', 'JSON-escaped', 'URL-encoded', 'hexadecimal', 'plain, reversed']),
    );
    expect(found.filter((name) => /^base64(url)? at .$/.test(name))).toHaveLength(6);
    expect(places.tables.findForms(MARKER)).toEqual(expect.arrayContaining([...found]));
    expect(places.log.findForms('relation "receipt" does not exist')).toContain('plain');
  });
});

describe.each(['answers', 'log', 'tables'] as const)('no form of a credential is found in the %s', (place) => {
  it.each(NAMES)('of %s', (name) => {
    expect(toValues(name).map((value) => [value, places[place].findForms(value)])).toEqual(
      toValues(name).map((value) => [value, []]),
    );
  });

  it('of a provider that refuses and gives the request back', () => {
    expect(places[place].findForms(CREDENTIALS.REFUSED_CLIENT_SECRET)).toEqual([]);
  });
});
