import { chmod, cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { findBinaries, linkLibraries } from './binaries.js';
import { startEmbeddedPostgres } from './index.js';
import { PASSWORD_FILE } from './passwords.js';
import { runCommand } from './run-command.js';
import { type Bench, makeBench, queryOnce, readReport } from './testing/harness.js';

const isRoot = process.getuid?.() === 0;
/** A user without rights that every Unix has, and that is not the one the launcher takes. */
const DAEMON = 1;

let bench: Bench;
let folder: string;
let dir: string;

beforeAll(async () => {
  bench = await makeBench();
});

afterAll(() => bench.clear());

beforeEach(async () => {
  folder = await bench.makeFolder();
  dir = join(folder, 'data');
});

afterEach(() => bench.killLaunched());

test('names the folder where it cannot be made', async () => {
  await writeFile(join(folder, 'file'), '');
  const start = startEmbeddedPostgres({ dir: join(folder, 'file', 'data') });
  await expect(start).rejects.toThrow(
    /cannot write to .*file \(.*(ENOTDIR|EEXIST).*choose another one, or set DATABASE_URL/,
  );
});

test('names the user where the folder is not writable', async () => {
  await chmod(folder, 0o555);
  const child = bench.launch({ dir }, {}, isRoot ? DAEMON : undefined);
  const { error } = await readReport(child);
  expect(error).toMatch(/cannot write to .*EACCES.*user id \d+ can write/);
  await chmod(folder, 0o755);
});

test('touches no folder that holds something else', async () => {
  await mkdir(dir);
  await writeFile(join(dir, 'letter.txt'), 'mine');
  await expect(startEmbeddedPostgres({ dir, ephemeral: true })).rejects.toThrow(/not empty and holds no database/);
  expect(await readdir(dir)).toEqual(['letter.txt']);
});

test('takes an empty folder', async () => {
  await mkdir(dir);
  const server = await startEmbeddedPostgres({ dir, ephemeral: true });
  expect(await queryOnce(server.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  await server.stop();
});

test('shows the log of Postgres where a setting stops it, and a cluster without its passwords by name', async () => {
  const start = startEmbeddedPostgres({ dir, settings: { max_connections: 'many' } });
  await expect(start).rejects.toThrow(/did not start on .*invalid value for parameter "max_connections"/s);
  await rm(join(dir, PASSWORD_FILE));
  await expect(startEmbeddedPostgres({ dir })).rejects.toThrow(/rowcall-passwords.json is missing/);
});

test('makes the library links that an install without scripts has left out', async () => {
  const { postgres } = await findBinaries();
  const native = join(folder, 'package/native');
  await cp(dirname(dirname(postgres)), native, { recursive: true, verbatimSymlinks: true });
  const copy = join(native, 'bin/postgres');
  // Some installs hold copies in the place of links, so the package's own list says which they are.
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const targets = (JSON.parse(list) as { target: string }[]).map(({ target }) => join(native, '..', target));
  for (const target of targets) await rm(target);
  expect((await runCommand([copy, '--version'])).ok).toBe(targets.length === 0);
  await Promise.all([linkLibraries(native), linkLibraries(native)]);
  expect(await runCommand([copy, '--version'])).toMatchObject({ ok: true, stdout: expect.stringContaining('18.') });
});

test.runIf(isRoot)('root runs Postgres as somebody else, in folders that only root can enter too', async () => {
  const open = await startEmbeddedPostgres({ dir, ephemeral: true });
  expect((await stat(dir)).uid).not.toBe(0);
  await open.stop();
  const closed = join(folder, 'closed');
  await mkdir(closed, { mode: 0o700 });
  const server = await startEmbeddedPostgres({ dir: join(closed, 'data'), ephemeral: true });
  expect((await stat(join(closed, 'data'))).uid).toBe(0);
  expect(await queryOnce(server.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  await server.stop();
});

test.runIf(isRoot)('says what to do where the owner of a cluster can no longer enter its folder', async () => {
  const home = join(folder, 'home');
  const first = await startEmbeddedPostgres({ dir: join(home, 'data') });
  await first.stop();
  await chmod(home, 0o700);
  const again = startEmbeddedPostgres({ dir: join(home, 'data') });
  await expect(again).rejects.toThrow(/user id \d+, who owns it: cannot enter .*chmod a\+x/);
});

test.runIf(isRoot)('root goes on with the cluster of a normal user, who finds it usable afterwards', async () => {
  const home = join(folder, 'home');
  await mkdir(home);
  await chmod(home, 0o777);
  const inHome = join(home, 'data');
  const stop = async (child: ReturnType<Bench['launch']>) => {
    child.stdin?.write('stop\n');
    await new Promise((resolve) => child.once('exit', resolve));
  };
  const user = bench.launch({ dir: inHome }, {}, DAEMON);
  expect(await readReport(user)).toMatchObject({ reused: false });
  await stop(user);
  const root = await startEmbeddedPostgres({ dir: inHome });
  expect((await stat(inHome)).uid).toBe(DAEMON);
  await root.stop();
  const again = bench.launch({ dir: inHome }, {}, DAEMON);
  expect(await readReport(again)).toMatchObject({ reused: false });
  await stop(again);
});

test.runIf(isRoot)('a normal user is told that a cluster belongs to another', async () => {
  const first = await startEmbeddedPostgres({ dir });
  await first.stop();
  await chmod(folder, 0o777);
  const { error } = await readReport(bench.launch({ dir }, {}, DAEMON));
  expect(error).toMatch(/cannot read data folder|belongs to user id/);
});
