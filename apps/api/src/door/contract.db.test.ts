import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { readSeeds } from '../seed.js';
import { startTestApi, type TestApi } from '../testing/test-api.js';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const KEYS = (await readSeeds()).map(({ key }) => key);

describe('a contract', () => {
  it.each(KEYS)('of %s has less than 2,048 bytes as JSON and 1,500 as Markdown', async (key) => {
    const json = await api.anyone.get(`/api/dispatch?key=${key}`);
    const markdown = await api.anyone.get(`/api/dispatch?key=${key}&format=markdown`);
    expect(json.status).toBe(200);
    expect(Buffer.byteLength(json.text)).toBeLessThan(2_048);
    expect(Buffer.byteLength(markdown.text)).toBeLessThan(1_500);
  });

  it('keeps no version of a row in memory that is gone', async () => {
    const row = { key: 'CHANGING', type: 'fn', target: 'ECHO', content: '# WHAT: First.', examples: ['a'] };
    expect(await api.owner.post('/api/directory', row)).toMatchObject({ status: 201 });
    expect((await api.anyone.get('/api/dispatch?key=CHANGING')).text).toContain('First.');
    const first = new WeakRef(api.context.catalogue.find('CHANGING') ?? {});
    await api.owner.send('PATCH', '/api/directory/CHANGING', { body: { content: '# WHAT: Second.' } });
    expect((await api.anyone.get('/api/dispatch?key=CHANGING')).text).toContain('Second.');
    await vi.waitFor(() => {
      collectGarbage();
      expect(first.deref()).toBeUndefined();
    });
  });

  it('stays within its bytes whatever the row says', async () => {
    const long = '"😀\\'.repeat(2_000);
    const row = {
      key: 'LONG',
      type: 'fn',
      target: 'ECHO',
      content: `# WHAT: ${long}\n# WHEN_TO_USE: ${long}`,
      examples: [long],
    };
    expect(await api.owner.post('/api/directory', row)).toMatchObject({ status: 201 });
    const json = await api.anyone.get('/api/dispatch?key=LONG');
    const markdown = await api.anyone.get('/api/dispatch?key=LONG&format=markdown');
    expect(Buffer.byteLength(json.text)).toBeLessThan(2_048);
    expect(Buffer.byteLength(markdown.text)).toBeLessThan(1_500);
    expect(json.json()).toMatchObject({ truncated: true });
  });

  it.each(KEYS)('of %s holds a call that its row accepts as it stands', async (key) => {
    const { example } = (await api.anyone.get(`/api/dispatch?key=${key}`)).json<{ example: { body: string } }>();
    expect(example).toEqual({ key, body: expect.any(String) });
    // Only to be queued: most rows of the seeds reach out to the internet.
    expect(await api.owner.invoke({ ...example, mode: 'async' })).toMatchObject({ status: 202 });
  });

  it('can be read in Markdown by its header too', async () => {
    const byHeader = await api.anyone.get('/api/dispatch?key=NOW', { accept: 'text/markdown, */*;q=0.1' });
    const byFormat = await api.anyone.get('/api/dispatch?key=NOW&format=markdown');
    expect(byHeader.headers['content-type']).toBe('text/markdown; charset=utf-8');
    expect(byHeader.text).toBe(byFormat.text);
  });

  it('can be read as a skill with front matter', async () => {
    const skill = await api.anyone.get('/api/dispatch?key=WEATHER_NOW&format=skill');
    expect(skill.headers['content-type']).toBe('text/markdown; charset=utf-8');
    expect(skill.text).toMatch(/^---\nname: weather-now\ndescription: "[^\n]+"\n---\n\n# WEATHER_NOW\n/);
  });

  it('never holds the template, the credential name or the target of a row', async () => {
    const row = {
      key: 'HUSH',
      type: 'http',
      target: 'POST https://inside.example/secret-path',
      auth: 'bearer:INSIDE_TOKEN',
      content: '# WHAT: Tells.\n{"hidden":"$1"}',
      headers: { 'X-Inside': 'yes' },
    };
    expect(await api.owner.post('/api/directory', row)).toMatchObject({ status: 201 });
    for (const query of ['key=HUSH', 'key=HUSH&format=markdown', 'key=HUSH&format=skill', 'ask=HUSH', 'registry=1']) {
      const { text } = await api.anyone.get(`/api/dispatch?${query}`);
      expect(text).toContain('HUSH');
      expect(text).not.toMatch(/inside|INSIDE|hidden|X-Inside/);
    }
  });

  it('of an unknown key is a problem that names those probably meant', async () => {
    const answer = await api.anyone.get('/api/dispatch?key=WEATHER_NWO');
    expect(answer.status).toBe(404);
    expect(answer.json()).toMatchObject({
      error: 'unknown_key',
      did_you_mean: expect.arrayContaining(['WEATHER_NOW']),
    });
  });

  it('of a disabled row is unknown: the row is gone from every projection', async () => {
    await api.owner.send('PATCH', '/api/directory/COUNTRY', { body: { enabled: false } });
    expect((await api.anyone.get('/api/dispatch?key=COUNTRY')).json()).toMatchObject({ error: 'unknown_key' });
    for (const query of ['ask=facts+about+a+country', 'map=places', 'registry=1', 'key=COUNTRI']) {
      expect((await api.anyone.get(`/api/dispatch?${query}`)).text).not.toMatch(/"COUNTRY"/);
    }
    expect(await api.owner.get('/api/directory/COUNTRY')).toMatchObject({ status: 200 });
  });

  it('of a row that planners do not see can be read by its key, but is not found by a question', async () => {
    await api.owner.send('PATCH', '/api/directory/GEOCODE', { body: { planner_visible: 0 } });
    expect(await api.anyone.get('/api/dispatch?key=GEOCODE')).toMatchObject({ status: 200 });
    const asked = await api.anyone.get('/api/dispatch?ask=GEOCODE+coordinates+of+a+place');
    expect(asked.json<{ matches: { key: string }[] }>().matches.map(({ key }) => key)).not.toContain('GEOCODE');
  });
});
