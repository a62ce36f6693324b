import { mkdtemp, rm, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startTestEngine, type TestEngine } from '../testing/engine.js';

const save = (file: string, text: string) => writeFile(path.join(folder, file), text);

/** A module that defines one function with the given rest of its definition. */
const moduleOf = (name: string, effect: string, run: string): string =>
  `export default ({ z, defineFunction }) => defineFunction({
     name: '${name}', what: 'Does it.', effect: '${effect}', input: z.tuple([z.string()]), ${run}
   });`;

let folder: string;
let engine: TestEngine;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'rowcall-engine-functions-'));
  await save('greet.mjs', moduleOf('GREET', 'read', 'run: ([name]) => "hello " + name'));
  await save(
    'context.mjs',
    moduleOf(
      'CONTEXT',
      'read',
      'run: async (_input, { signal, actor, reason, timeZone, now, limits }) => ({ aborted: signal.aborted, actor, reason, timeZone, now: typeof now(), limits })',
    ),
  );
  await save('hang.mjs', moduleOf('HANG', 'write', 'run: () => new Promise(() => {})'));
  await save('thenable.mjs', moduleOf('THENABLE', 'read', 'run: () => ({ then: (done) => done("later") })'));
  await save('fail.mjs', moduleOf('FAIL', 'read', 'run() { throw new Error("no luck"); }'));
  const objectMessage = 'throw Object.assign(new Error(), { message: { code: 7 } })';
  await save('object-message.mjs', moduleOf('OBJECT_MESSAGE', 'write', `run() { ${objectMessage}; }`));
  await save('no-text.mjs', moduleOf('NO_TEXT', 'write', 'run() { throw Object.create(null); }'));
  engine = await startTestEngine({ functionFolder: folder });
});

afterAll(async () => {
  await engine.stop();
  await rm(folder, { recursive: true });
});

const resultOf = async (key: string, body: string): Promise<unknown> =>
  JSON.parse((await engine.run(key, { input: { body } })).resultText);
const find = (key: string) => engine.parts.catalogue.find(key);

describe('a function from the folder', () => {
  test('runs as a row names it, with its arguments checked', async () => {
    await engine.insert({ key: 'GREET', target: 'GREET' });
    expect(find('GREET')?.effect).toBe('read');
    expect(await resultOf('GREET', 'Ada')).toBe('hello Ada');
    await engine.insert({ key: 'GREET_BADLY', target: 'GREET', content: '# WHAT: Greets.\n[1]' });
    expect((await engine.refuse('GREET_BADLY')).code).toBe('invalid_args');
  });

  test('sees who calls, why, and the limits of its row', async () => {
    await engine.insert({ key: 'CONTEXT', target: 'CONTEXT', limits: { timeout_ms: 5_000 } });
    const call = await engine.run('CONTEXT', { input: { body: 'x' }, reason: 'a test' });
    expect(JSON.parse(call.resultText)).toEqual({
      aborted: false,
      actor: 'owner',
      reason: 'a test',
      timeZone: 'Europe/Oslo',
      now: 'number',
      limits: { timeout_ms: 5_000 },
    });
  });

  test('that never ends times out', async () => {
    await engine.insert({ key: 'HANG', target: 'HANG', limits: { timeout_ms: 20 } });
    const { receipt, error } = await engine.run('HANG', { input: { body: 'x' } });
    expect(receipt.outcome).toBe('timed_out');
    expect(error?.reason).toBe('function_timeout');
  });

  test('may give any thenable, and fail', async () => {
    await engine.insert({ key: 'THENABLE', target: 'THENABLE' });
    expect(await resultOf('THENABLE', 'x')).toBe('later');
    await engine.insert({ key: 'FAIL', target: 'FAIL' });
    const { error } = await engine.run('FAIL', { input: { body: 'x' } });
    expect(error).toEqual({ reason: 'function_failed', message: 'no luck' });
  });

  test.each([
    ['OBJECT_MESSAGE', '[object Object]'],
    ['NO_TEXT', 'the function threw what has no text'],
  ])('has a receipt whatever it throws: %s', async (name, message) => {
    await engine.insert({ key: name, target: name });
    const { receipt, error } = await engine.run(name, { input: { body: 'x' } });
    expect(error).toEqual({ reason: 'function_failed', message });
    expect((await engine.read(receipt.id)).receipt.outcome).toBe('failed');
  });

  test('that appears, changes its effect or vanishes takes the effect and fingerprint of its rows with it', async () => {
    await engine.insert({ key: 'LATER', target: 'LATER' });
    await engine.insert({ key: 'DECLARED', target: 'LATER', effect: 'write' });
    const [missing, declared] = [find('LATER')?.fingerprint, find('DECLARED')?.fingerprint];
    expect(find('LATER')?.effect).toBe('write');
    expect((await engine.refuse('LATER')).code).toBe('invalid_row');

    await save('later.mjs', moduleOf('LATER', 'read', 'run: () => 1'));
    await vi.waitFor(() => expect(find('LATER')?.effect).toBe('read'), { timeout: 10_000 });
    const reading = find('LATER')?.fingerprint;
    expect(reading).not.toBe(missing);
    expect(await resultOf('LATER', 'x')).toBe(1);

    const { revision } = engine.parts.catalogue;
    await save('later.mjs', moduleOf('LATER', 'destructive', 'run: () => 2'));
    await vi.waitFor(() => expect(find('LATER')?.effect).toBe('destructive'), { timeout: 10_000 });
    expect(engine.parts.catalogue.revision).toBeGreaterThan(revision);
    const refused = await engine.refuse('LATER', { expectContract: String(reading) });
    expect(refused.code).toBe('contract_changed');
    expect(await resultOf('LATER', 'x')).toBe(2);

    await unlink(path.join(folder, 'later.mjs'));
    await vi.waitFor(() => expect(find('LATER')?.effect).toBe('write'), { timeout: 10_000 });
    expect(find('LATER')?.fingerprint).toBe(missing);
    expect(find('DECLARED')?.fingerprint).toBe(declared);
    expect((await engine.refuse('LATER')).message).toContain('which this server does not have');
  });
});
