import { mkdtemp, rm, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startTestApi, type TestApi } from './testing/test-api.js';

const MODULE = `export default ({ z, defineFunction }) => defineFunction({
  name: 'SHOUT', what: 'Shouts.', effect: 'read', input: z.tuple([z.string()]), run: ([text]) => text + '!',
});`;

let folder: string;
let api: TestApi;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'rowcall-api-functions-'));
  await writeFile(path.join(folder, 'shout.mjs'), MODULE);
  await writeFile(path.join(folder, 'broken.mjs'), 'throw new Error("not configured");');
  api = await startTestApi({ config: { functionFolder: folder } });
});
afterAll(async () => {
  await api.close();
  await rm(folder, { recursive: true });
});

const rowOf = (key: string) => ({ key, type: 'fn', target: 'SHOUT', content: '# WHAT: Shouts.', examples: ['hi'] });

describe('a functions folder', () => {
  it('gives functions that rows can name and callers call', async () => {
    expect((await api.owner.post('/api/directory', rowOf('SHOUT'))).status).toBe(201);
    expect((await api.owner.invoke({ key: 'SHOUT', body: 'hi' })).json()).toMatchObject({ ok: true, result: 'hi!' });
    expect((await api.anyone.get('/api/dispatch?key=SHOUT')).json()).toMatchObject({ effect: 'read' });
    const shaped = await api.owner.invoke({ key: 'SHOUT', body: 'hi', shape: true });
    expect(shaped.json()).toMatchObject({ ran: false, shape: { function: 'SHOUT', arguments: ['hi'] } });
  });

  it('reports a broken module by file and reason, and starts all the same', () => {
    const [line = '{}', ...others] = api.log.filter((text) => text.includes('broken.mjs'));
    expect(JSON.parse(line)).toMatchObject({
      level: 50,
      file: 'broken.mjs',
      msg: expect.stringContaining('not configured'),
    });
    expect(others).toEqual([]);
  });

  it('takes a function away with its file: no new row can name it, and rows that do say so', async () => {
    await unlink(path.join(folder, 'shout.mjs'));
    await vi.waitFor(async () => {
      const contract = await api.anyone.get('/api/dispatch?key=SHOUT');
      expect(contract.json()).toMatchObject({ effect: 'write' });
    }, 10_000);
    const refused = await api.owner.post('/api/directory', rowOf('SHOUT_TOO'));
    expect(refused.json()).toMatchObject({ status: 422, violations: [{ code: 'unknown_function' }] });
    expect((await api.owner.invoke({ key: 'SHOUT', body: 'hi' })).json()).toMatchObject({ error: 'invalid_row' });
    const patched = await api.owner.send('PATCH', '/api/directory/SHOUT', { body: { enabled: false } });
    expect(patched.status).toBe(200);
  });
});
