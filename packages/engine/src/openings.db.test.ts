import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineFunction } from './functions/registry.js';
import { startTestEngine, type TestEngine } from './testing/engine.js';

let engine: TestEngine;
let fired: string[] = [];

beforeAll(async () => {
  const write = defineFunction({
    name: 'NOTE',
    what: 'Notes.',
    effect: 'write',
    input: z.tuple([z.string()]),
    run: ([body]) => fired.push(body),
  });
  engine = await startTestEngine({ functions: [write] });
  await engine.insert({ key: 'NOTE', target: 'NOTE', effect: 'write', content: '# WHAT: Notes.\n["$1"]' });
});
afterAll(() => engine.stop());

const note = (body: string, more = {}) => engine.run('NOTE', { input: { body }, ...more });
const listOpened = async () => (await engine.observer.pool.query('select id from opened')).rows;

describe('calls that are opened together', () => {
  test('do not fail with one that the database refuses, which is not run', async () => {
    fired = [];
    const bodies = Array.from({ length: 20 }, (_, index) => `n${index}`);
    const calls = bodies.map((body) => note(body, body === 'n7' ? { reason: 'a\0b' } : {}));
    const ended = await Promise.allSettled(calls);
    expect(ended.filter(({ status }) => status === 'rejected')).toHaveLength(1);
    expect(fired.sort()).toEqual(bodies.filter((body) => body !== 'n7').sort());
    expect(await listOpened()).toEqual([]);
  });

  test('are opened by a process that was declared dead, once it has registered anew', async () => {
    await engine.observer.pool.query('delete from process');
    expect((await note('late')).receipt.outcome).toBe('succeeded');
    const { rows } = await engine.observer.pool.query('select count(*)::int as count from process');
    expect(rows).toEqual([{ count: 1 }]);
  });

  test('are not given up by a sweep while they are under way', async () => {
    let isSwept = false;
    const slow = await startTestEngine(
      {
        functions: [
          defineFunction({
            name: 'SLOW',
            what: 'Waits.',
            effect: 'write',
            input: z.tuple([z.string()]),
            run: () => null,
          }),
        ],
        beforeFire: async () => {
          await slow.parts.housekeeping.sweep();
          isSwept = true;
        },
      },
      engine.database,
    );
    await slow.insert({ key: 'SLOW', target: 'SLOW', effect: 'write', content: '# WHAT: Waits.\n["$1"]' });
    expect((await slow.run('SLOW')).receipt.outcome).toBe('succeeded');
    expect(isSwept).toBe(true);
    await slow.stop();
  });
});
