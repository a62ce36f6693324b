import { link, mkdir, mkdtemp, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FunctionFolder } from './folder.js';
import type { ImportModule } from './module.js';
import type { FunctionContext, FunctionDefinition } from './registry.js';

const CONTEXT: FunctionContext = {
  signal: AbortSignal.abort(),
  now: () => 0,
  timeZone: 'UTC',
  actor: 'owner',
  reason: null,
  limits: null,
};

/** A module that gives `answer` under a name. */
const moduleOf = (name: string, answer: string, effect = 'read'): string =>
  `export default ({ z, defineFunction }) => defineFunction({
     name: '${name}', what: 'Answers.', effect: '${effect}', input: z.array(z.unknown()), run: () => '${answer}',
   });`;

/** The import of Node.js: the test runner puts its own, which transforms what it loads, in place of every other. */
const { importModule } = (await import(
  'data:text/javascript,export const importModule = (url) => import(url);' as string
)) as { importModule: ImportModule };

describe('the functions folder', { timeout: 30_000 }, () => {
  let parent: string;
  let folder: string;
  let functions: readonly FunctionDefinition[];
  let errors: string[];
  const opened: FunctionFolder[] = [];

  beforeEach(async () => {
    parent = await mkdtemp(path.join(tmpdir(), 'rowcall-functions-'));
    folder = path.join(parent, 'functions');
    await mkdir(folder);
    functions = [];
    errors = [];
  });

  afterEach(async () => {
    for (const each of opened.splice(0)) each.stop();
    await rm(parent, { recursive: true });
  });

  const save = (file: string, text: string) => writeFile(path.join(folder, file), text);

  async function open(taken: readonly string[] = []): Promise<FunctionFolder> {
    const log = {
      debug() {},
      info() {},
      warn: (_facts: object, message: string) => void errors.push(message),
      error: (_facts: object, message: string) => void errors.push(message),
    };
    const onChange = (loaded: readonly FunctionDefinition[]) => {
      functions = loaded;
    };
    const opening = new FunctionFolder({ folder, taken: new Set(taken), log, onChange, importModule });
    opened.push(opening);
    await opening.start();
    return opening;
  }

  /** What each function answers, by name. */
  const answers = () => Object.fromEntries(functions.map(({ name, run }) => [name, run([], CONTEXT)] as const).sort());

  const settled = (expected: object) => vi.waitFor(() => expect(answers()).toEqual(expected), { timeout: 10_000 });

  it('gives the functions of .js and .mjs modules, and looks at nothing else', async () => {
    await save('a.mjs', moduleOf('A', 'a'));
    await save('b.cjs', 'throw new Error("is not to be loaded");');
    await save('.hidden.mjs', 'throw new Error("is not to be loaded");');
    await save('README.md', 'text');
    await save('package.json', '{"type":"module"}');
    await save('c.js', moduleOf('C', 'c'));
    await mkdir(path.join(folder, 'lib.js'));
    await open();
    expect(answers()).toEqual({ A: 'a', C: 'c' });
    expect(errors).toEqual([]);
  });

  it('gives a definition that is exported as it is, with a schema of any Zod', async () => {
    await save(
      'plain.mjs',
      `export default { name: 'PLAIN', what: 'Answers.', effect: 'destructive', answer: 'mine',
         input: { safeParse: (data) => ({ success: true, data }) }, run() { return this.answer; } };`,
    );
    await open();
    expect(answers()).toEqual({ PLAIN: 'mine' });
    expect(functions[0]?.effect).toBe('destructive');
  });

  it('takes what a definition was when it was loaded', async () => {
    await save(
      'fickle.mjs',
      `const made = { name: 'FICKLE', what: 'Answers.', effect: 'read', input: { safeParse() {} }, run: () => 'first' };
       setImmediate(() => { made.run = () => 'second'; });
       export default made;`,
    );
    await open();
    await new Promise((resolve) => setImmediate(resolve));
    expect(answers()).toEqual({ FICKLE: 'first' });
  });

  it('loads the others beside a link that leads nowhere but to itself', async () => {
    await symlink('loop.js', path.join(folder, 'loop.js'));
    await save('good.mjs', moduleOf('GOOD', 'good'));
    await open();
    expect(answers()).toEqual({ GOOD: 'good' });
    expect(errors).toEqual([expect.stringContaining('the function module loop.js is broken: ELOOP')]);
  });

  it('loads a CommonJS module anew when what a link to it leads to changes', async () => {
    const target = path.join(parent, 'target.js');
    const write = (answer: string) =>
      writeFile(
        target,
        `module.exports = { name: 'LINKED', what: 'Answers.', effect: 'read', input: { safeParse() {} }, run: () => '${answer}' };`,
      );
    await write('one');
    await symlink(target, path.join(folder, 'linked.js'));
    await open();
    expect(answers()).toEqual({ LINKED: 'one' });
    await write('another');
    await settled({ LINKED: 'another' });
  });

  it.each([
    ['has a syntax error', 'export default {', 'Unexpected end of input'],
    ['throws', 'throw new Error("no config");', 'no config'],
    ['exports nothing', 'export const x = 1;', 'default export: Invalid input'],
    ['has a bad name', moduleOf('not a name', 'x'), 'name: must match'],
    ['has a bad effect', moduleOf('X', 'x', 'reads'), 'effect: must be one of read, write, destructive'],
    [
      'has no input',
      "export default { name: 'X', what: 'x', effect: 'read', run() {} }",
      'input: must be a Zod schema',
    ],
    ['has the name of a built-in function', moduleOf('NOW', 'x'), 'a built-in function has the name NOW'],
  ])('reports and leaves out a module that %s', async (_what, text, reason) => {
    await save('bad.mjs', text);
    await save('good.mjs', moduleOf('GOOD', 'good'));
    await open(['NOW']);
    expect(answers()).toEqual({ GOOD: 'good' });
    expect(errors).toHaveLength(1);
    expect(errors[0]).toContain('bad.mjs');
    expect(errors[0]).toContain(reason);
  });

  it('takes what is added, changed and removed', async () => {
    await open();
    await save('a.mjs', moduleOf('A', 'one'));
    await settled({ A: 'one' });
    await save('a.mjs', moduleOf('A', 'two'));
    await settled({ A: 'two' });
    await save('a.mjs', moduleOf('RENAMED', 'two'));
    await settled({ RENAMED: 'two' });
    await unlink(path.join(folder, 'a.mjs'));
    await settled({});
    expect(errors).toEqual([]);
  });

  it('takes a file that is put in place by rename or by link', async () => {
    await save('a.mjs', moduleOf('A', 'one'));
    await open();
    await writeFile(path.join(parent, 'next'), moduleOf('A', 'two'));
    await rename(path.join(parent, 'next'), path.join(folder, 'a.mjs'));
    await settled({ A: 'two' });
    await writeFile(path.join(parent, 'other'), moduleOf('A', 'six'));
    await unlink(path.join(folder, 'a.mjs'));
    await link(path.join(parent, 'other'), path.join(folder, 'a.mjs'));
    await settled({ A: 'six' });
  });

  it('takes a CommonJS module anew', async () => {
    const cjs = (answer: string) => moduleOf('A', answer).replace('export default', 'module.exports =');
    await save('package.json', '{"type":"commonjs"}');
    await save('a.js', cjs('one'));
    await open();
    expect(answers()).toEqual({ A: 'one' });
    await save('a.js', cjs('two'));
    await settled({ A: 'two' });
  });

  it('keeps the last good version of a file that breaks, until it is mended', async () => {
    await save('a.mjs', moduleOf('A', 'one'));
    await open(['NOW']);
    await save('a.mjs', 'export default');
    await vi.waitFor(() => expect(errors).toHaveLength(1), { timeout: 10_000 });
    expect(answers()).toEqual({ A: 'one' });
    await save('a.mjs', moduleOf('NOW', 'two'));
    await vi.waitFor(() => expect(errors).toHaveLength(2), { timeout: 10_000 });
    expect(answers()).toEqual({ A: 'one' });
    await save('a.mjs', moduleOf('A', 'three'));
    await settled({ A: 'three' });
  });

  it('leaves a name to the file that had it first, and gives it on when that file goes', async () => {
    await save('b.mjs', moduleOf('SAME', 'from b'));
    await open();
    await save('a.mjs', moduleOf('SAME', 'from a'));
    await vi.waitFor(() => expect(errors).toHaveLength(1), { timeout: 10_000 });
    expect(errors[0]).toContain('a.mjs is left out: b.mjs has the name SAME');
    expect(answers()).toEqual({ SAME: 'from b' });
    await unlink(path.join(folder, 'b.mjs'));
    await settled({ SAME: 'from a' });
  });

  it('is empty until it exists, and goes on when it is made anew', async () => {
    await rm(folder, { recursive: true });
    await open();
    expect(answers()).toEqual({});
    expect(errors).toEqual(['the functions folder cannot be read']);
    await mkdir(folder);
    await save('a.mjs', moduleOf('A', 'one'));
    await settled({ A: 'one' });
    await rename(folder, path.join(parent, 'old'));
    await mkdir(folder);
    await save('b.mjs', moduleOf('B', 'two'));
    await settled({ B: 'two' });
    await save('c.mjs', moduleOf('C', 'three'));
    await settled({ B: 'two', C: 'three' });
  });
});
