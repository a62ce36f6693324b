import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mintGrant } from './testing/grants.js';
import { startTestApi, type TestApi } from './testing/test-api.js';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

/** CPU time, in ms, that one hostile request may take on a slow machine: quadratic work takes minutes. */
const CPU_MAX_MS = 5_000;

async function timed<T>(work: Promise<T>): Promise<T> {
  const start = process.cpuUsage();
  const result = await work;
  const { user, system } = process.cpuUsage(start);
  expect((user + system) / 1_000).toBeLessThan(CPU_MAX_MS);
  return result;
}

const nest = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

describe('what nests deeply', () => {
  it.each([
    ['arguments', `{"key":"ECHO","args":{"text":${nest(500_000)}}}`],
    ['objects', `{"key":"ECHO","args":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`],
    ['an unknown field', `{"key":"ECHO","deep":${nest(100_000)}}`],
    ['two hundred levels and one', `{"key":"ECHO","args":{"text":${nest(199)}}}`],
  ])('(%s) is refused before anything runs', async (_what, body) => {
    const answer = await timed(api.owner.send('POST', '/api/dispatch', { body }));
    expect(answer.json()).toMatchObject({ status: 400, error: 'invalid_json' });
  });

  it('(a hundred levels) is taken', async () => {
    const row = {
      key: 'DEEP',
      type: 'fn',
      target: 'ECHO',
      input_schema: {},
      content: '# WHAT: D.\n[$text]',
      examples: ['{}'],
    };
    expect(await api.owner.post('/api/directory', row)).toMatchObject({ status: 201 });
    const body = `{"key":"DEEP","args":{"text":${nest(100)}}}`;
    const answer = await api.owner.send('POST', '/api/dispatch', { body });
    expect(answer.status).toBe(200);
    expect(answer.text).toContain(`"result":${nest(100)}`);
  });

  it.each(['ECHO', 'UPPER'])('(a body that is one JSON document, to %s) is text', async (key) => {
    const body = nest(100_000);
    const answer = await timed(api.owner.invoke({ key, body }));
    expect(answer.status).toBe(200);
    expect(answer.json()).toMatchObject({ result: body });
  });

  it.each([
    ['a schema as text', { input_schema: `{"type":"object","x":${nest(100_000)}}` }],
    ['a schema', { input_schema: JSON.parse(`{"type":"object","x":${nest(190)}}`) }],
    ['a template', { content: `# WHAT: T.\n${nest(100_000)}` }],
    ['examples', { examples: nest(1_000) }],
  ])('(%s) is refused in a row', async (_what, more) => {
    const row = { key: 'DEEP_ROW', type: 'fn', target: 'ECHO', content: '# WHAT: D.', examples: ['a'], ...more };
    const answer = await timed(api.owner.post('/api/directory', row));
    expect([400, 422]).toContain(answer.status);
  });
});

describe('a call that is wrapped deeply, in a text', () => {
  const text = `${'{"args":'.repeat(300_000)}1${'}'.repeat(300_000)}`;

  it('is refused, whoever sends it, and the process goes on', async () => {
    const { holder } = await mintGrant(api, { scope: { keys: ['ECHO'] } });
    for (const caller of [api.owner, holder]) {
      const answer = await timed(caller.invoke({ key: 'ECHO', args: text }));
      expect(answer).toMatchObject({ status: 400 });
    }
  });
});

describe('a link', () => {
  it('with arguments that nest deeply is refused', async () => {
    const { holder } = await mintGrant(api, { scope: { keys: ['ECHO'] } });
    const answer = await holder.get(`/api/dispatch?invoke=ECHO&args={"text":${nest(7_000)}}`);
    expect(answer.json()).toMatchObject({ status: 400, error: 'invalid_args' });
  });
});

describe('a large body of nobody that is known', () => {
  const send = (headers: Record<string, string>, size: number) =>
    api.anyone.send('POST', '/api/dispatch', { body: `{"key":"${'A'.repeat(size)}`, headers });

  it('is not read', async () => {
    expect((await send({}, 100_000)).json()).toMatchObject({ error: 'invalid_json' });
    expect((await send({}, 300_000)).json()).toMatchObject({ error: 'unauthorized' });
    expect((await send({ 'x-share': `sh.${'A'.repeat(43)}` }, 300_000)).json()).toMatchObject({
      error: 'unauthorized',
    });
  });

  it('is read where a grant is presented beside it', async () => {
    const { token } = await mintGrant(api, { scope: { keys: ['ECHO'] } });
    expect((await send({ 'x-share': token }, 300_000)).json()).toMatchObject({ error: 'invalid_json' });
  });
});

describe('what is large', () => {
  it.each([
    ['pipes', '|'.repeat(200_000)],
    ['backslashes', '\\'.repeat(200_000)],
    ['dollars', '$1'.repeat(100_000)],
    ['quotes', '"'.repeat(200_000)],
    ['letters', 'a'.repeat(3_900_000)],
    ['what looks like keys', 'sk-'.repeat(70_000)],
    ['what looks like tokens', 'eyJ'.repeat(70_000)],
  ])('(%s in a body) is answered whole and in time', async (_what, body) => {
    const answer = await timed(api.owner.invoke({ key: 'ECHO', body }));
    expect(answer.status).toBe(200);
    expect(answer.json<{ result: string }>().result.length).toBe(body.length);
  });

  it('(fifty thousand arguments) is refused in time, with an answer of moderate size', async () => {
    const args = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`a${index}`, '']));
    const answer = await timed(api.owner.invoke({ key: 'ECHO', args }));
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.json()).length).toBeLessThan(10_000);
  });

  it.each([
    ['words', 'time '.repeat(2_500)],
    ['different words', Array.from({ length: 2_500 }, (_, index) => `w${index}`).join(' ')],
    ['one long word', 'a'.repeat(12_000)],
    ['spaces', `${' '.repeat(12_000)}a`],
    ['combining marks', 'e\u0301'.repeat(3_000)],
    ['slashes', '/_-.'.repeat(3_000)],
  ])('(a question of %s) is answered in time', async (_what, question) => {
    const answer = await timed(api.anyone.get(`/api/dispatch?ask=${encodeURIComponent(question)}`));
    expect(answer.status).toBe(200);
    expect(answer.text.length).toBeLessThan(20_000);
  });

  it.each([
    ['authorization', `Bearer${' '.repeat(12_000)}`],
    ['authorization', `Bearer a${' '.repeat(12_000)}b`],
    ['accept', 'text/'.repeat(2_400)],
    ['prefer', 'respond-'.repeat(1_500)],
    ['traceparent', '0'.repeat(12_000)],
    ['if-none-match', ','.repeat(12_000)],
    ['if-match', `"${'1'.repeat(12_000)}`],
  ])('(a header %s) is read in time', async (name, value) => {
    await timed(api.anyone.get('/api/dispatch?key=NOW', { [name]: value }));
    await timed(api.owner.send('PATCH', '/api/directory/NOW', { body: {}, headers: { [name]: value } }));
  });

  it.each([
    ['docstring', { content: `# WHAT: a\n${'# '.repeat(100_000)}` }],
    ['lines of a docstring', { content: '# WHAT: a\n'.repeat(50_000) }],
    ['spaces in a docstring', { content: `# WHAT: a${' '.repeat(200_000)}b` }],
    ['bars in ARGS', { content: `# WHAT: a\n# ARGS: ${'$1=a | '.repeat(100_000)}` }],
    ['tags in EX', { content: `# WHAT: a\n# EX: ${'[ECHO]'.repeat(100_000)}` }],
    [
      'pattern',
      {
        input_schema: { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } },
        examples: [`${'a'.repeat(40)}!`],
      },
    ],
  ])('(a row with a hostile %s) is written or refused in time, and read in time', async (_what, more) => {
    const row = { key: 'LARGE', type: 'fn', target: 'ECHO', content: '# WHAT: L.', examples: ['a'], ...more };
    const answer = await timed(api.owner.post('/api/directory', row));
    expect([201, 400, 422]).toContain(answer.status);
    await timed(api.anyone.get('/api/dispatch?key=LARGE'));
    await timed(api.anyone.get('/api/dispatch?ask=LARGE'));
    await timed(api.anyone.get('/api/dispatch?registry=1'));
    await api.owner.send('DELETE', '/api/directory/LARGE');
  });
});
