import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmod, copyFile, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { startEmbeddedPostgres } from './index.js';
import { hasProcess, isAlive } from './process-check.js';
import { startWith } from './start.js';
import {
  type Bench,
  connect,
  findProcesses,
  makeBench,
  queryOnce,
  readReport,
  timeUntilGone,
} from './testing/harness.js';

const isLinux = process.platform === 'linux';
/** Promised: about two seconds. The rest is for a loaded machine. */
const GONE_MS_MAX = 3_000;
/** `initdb` finishes the step it is at; what it makes is thrown away. */
const INITDB_GONE_MS_MAX = 10_000;

let bench: Bench;
/** For one test. */
let folder: string;
/** The data folder of a durable cluster, which one test hands on to the next. */
let lasting: string;

beforeAll(async () => {
  bench = await makeBench();
  lasting = join(await bench.makeFolder(), 'lasting');
  const server = await startEmbeddedPostgres({ dir: lasting });
  await queryOnce(server.url, 'create table kept (word text)');
  await server.stop();
});

afterAll(() => bench.clear());

beforeEach(async () => {
  folder = await bench.makeFolder();
});

afterEach(() => bench.killLaunched());

async function insertWord(url: string): Promise<string> {
  const word = randomUUID();
  await queryOnce(url, `insert into kept values ('${word}')`);
  return word;
}

async function hasWord(url: string, word: string): Promise<boolean> {
  return (await queryOnce(url, `select 1 from kept where word = '${word}'`)).length === 1;
}

test('committed rows survive kill -9 of the postmaster, ended tells of it, and stop does not hang', async () => {
  const first = await startEmbeddedPostgres({ dir: lasting });
  const word = await insertWord(first.url);
  process.kill(first.pid, 'SIGKILL');
  expect(await first.ended).toMatchObject({ code: null, signal: 'SIGKILL' });
  await first.stop();
  expect((await readFile(join(lasting, 'postmaster.pid'), 'utf8')).split('\n')[0]).toBe(String(first.pid));
  const second = await startEmbeddedPostgres({ dir: lasting });
  expect(second.reused).toBe(false);
  expect(await hasWord(second.url, word)).toBe(true);
  await second.stop();
  expect(isAlive(second.pid)).toBe(false);
  expect(await Promise.race([second.ended, sleep(50, 'not by itself')])).toBe('not by itself');
});

async function nameInPidFile(dir: string, pid: number | undefined): Promise<void> {
  const path = join(dir, 'postmaster.pid');
  const [, ...rest] = (await readFile(path, 'utf8')).split('\n');
  await writeFile(path, [pid, ...rest].join('\n'));
}

async function crash(): Promise<void> {
  const server = await startEmbeddedPostgres({ dir: lasting });
  process.kill(server.pid, 'SIGKILL');
  await server.ended;
}

test.skipIf(!isLinux)(
  'a stale pid file that names another program of the same user does not hinder a start',
  async () => {
    await crash();
    const { uid, gid } = await stat(lasting);
    const other = spawn('sleep', ['60'], { uid, gid });
    try {
      await once(other, 'spawn');
      await nameInPidFile(lasting, other.pid);
      const second = await startEmbeddedPostgres({ dir: lasting });
      expect(second.reused).toBe(false);
      await second.stop();
      expect(isAlive(other.pid ?? 0)).toBe(true);
    } finally {
      other.kill('SIGKILL');
    }
  },
);

test.skipIf(!isLinux)(
  'a stale pid file that names the Postgres of another folder does not hinder a start',
  async () => {
    const other = await startEmbeddedPostgres({ dir: join(folder, 'other'), ephemeral: true });
    await crash();
    await nameInPidFile(lasting, other.pid);
    const second = await startEmbeddedPostgres({ dir: lasting });
    expect(second.reused).toBe(false);
    expect(second.pid).not.toBe(other.pid);
    await second.stop();
    expect(isAlive(other.pid)).toBe(true);
    await other.stop();
  },
);

test.skipIf(!isLinux)(
  'a stale pid file that names a Postgres that ended and was not collected does not hinder a start',
  async () => {
    await crash();
    const { uid, gid } = await stat(lasting);
    const program = join(folder, 'postgres');
    await copyFile('/bin/sleep', program);
    await chmod(program, 0o755);
    const parent = spawn('/bin/sh', ['-c', '"$0" 0 & echo $!; exec sleep 60', program], { uid, gid });
    try {
      const zombie = Number((await once(parent.stdout, 'data')) as [Buffer]);
      while (isAlive(zombie)) await sleep(10);
      expect(hasProcess(zombie)).toBe(true);
      await nameInPidFile(lasting, zombie);
      const second = await startEmbeddedPostgres({ dir: lasting });
      expect(second.reused).toBe(false);
      await second.stop();
    } finally {
      parent.kill('SIGKILL');
    }
  },
);

for (const guard of ['setpriv', 'watchdog'] as const) {
  const skip = guard === 'setpriv' && !isLinux;

  test.skipIf(skip)(`kill -9 of the parent ends the server by itself (${guard})`, async () => {
    const child = bench.launch({ dir: lasting }, { guard });
    const { pid, url, reused } = await readReport(child);
    expect(reused).toBe(false);
    const client = await connect(url);
    child.kill('SIGKILL');
    await timeUntilGone(pid, GONE_MS_MAX);
    await client.end().catch(() => undefined);
    await expect(stat(join(lasting, 'postmaster.pid'))).rejects.toThrow('ENOENT'); // a clean end, not a crash
  });

  test.skipIf(skip || !isLinux)(
    `kill -9 of the parent during initdb leaves no process and no cluster (${guard})`,
    async () => {
      const dir = join(folder, 'data');
      const child = bench.launch({ dir, ephemeral: true }, { guard });
      const isInitdb = (line: string) => line.includes(`--pgdata=${dir}.init-`) && line.includes('initdb');
      while ((await findProcesses(isInitdb)).length === 0) await sleep(5);
      child.kill('SIGKILL');
      for (const pid of await findProcesses((line) => line.includes(`${dir}.init-`))) {
        await timeUntilGone(pid, INITDB_GONE_MS_MAX);
      }
      await expect(stat(dir)).rejects.toThrow('ENOENT');
      const server = await startEmbeddedPostgres({ dir, ephemeral: true });
      expect(await queryOnce(server.url, 'select 1 as one')).toEqual([{ one: 1 }]);
      expect((await readdir(folder)).filter((name) => name.includes('.init-'))).toEqual([]);
      await server.stop();
    },
  );

  test.skipIf(skip)(`Ctrl-C does not reach the server, stop leaves no process behind (${guard})`, async () => {
    const child = bench.launch({ dir: lasting }, { guard });
    const { pid, url } = await readReport(child);
    process.kill(-(child.pid ?? 0), 'SIGINT');
    await sleep(200);
    expect(await queryOnce(url, 'select 1 as one')).toEqual([{ one: 1 }]);
    const exit = once(child, 'exit');
    child.stdin?.write('stop\n');
    expect(await exit).toEqual([0, null]);
    expect(isAlive(pid)).toBe(false);
  });
}

test.skipIf(!isLinux)('the watchdog ends with the server it watches', async () => {
  const isWatchdog = (line: string) => line.includes('const pgCtl = process.argv[1]');
  const before = await findProcesses(isWatchdog);
  const server = await startWith({ dir: lasting }, { guard: 'watchdog' });
  const added = (await findProcesses(isWatchdog)).filter((pid) => !before.includes(pid));
  expect(added.length).toBeGreaterThan(0);
  await server.stop();
  for (const pid of added) await timeUntilGone(pid, GONE_MS_MAX);
});

test('a start right after kill -9 of the parent gets a server of its own with every row', async () => {
  const child = bench.launch({ dir: lasting });
  const { url } = await readReport(child);
  const word = await insertWord(url);
  child.kill('SIGKILL');
  await once(child, 'exit');
  const server = await startEmbeddedPostgres({ dir: lasting });
  expect(server.reused).toBe(false);
  expect(await hasWord(server.url, word)).toBe(true);
  await server.stop();
});

test('of three starts at once on a new folder one starts the server and the others join it', async () => {
  const options = { dir: join(folder, 'data'), ephemeral: true };
  const reports = await Promise.all([1, 2, 3].map(() => readReport(bench.launch(options))));
  expect(reports.map((report) => report.error)).toEqual([undefined, undefined, undefined]);
  expect(reports.filter((report) => !report.reused)).toHaveLength(1);
  expect(new Set(reports.map((report) => report.pid)).size).toBe(1);
  expect(new Set(reports.map((report) => report.url)).size).toBe(1);
  for (const { url } of reports) expect(await queryOnce(url, 'select 1 as one')).toEqual([{ one: 1 }]);
});

test('joining a running server: stop leaves it alone, ended tells when it goes', async () => {
  const child = bench.launch({ dir: lasting });
  const { pid, url } = await readReport(child);
  const joined = await startEmbeddedPostgres({ dir: lasting });
  expect(joined).toMatchObject({ reused: true, pid, url });
  await joined.stop();
  expect(await queryOnce(joined.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  child.kill('SIGKILL');
  await joined.ended;
  expect(isAlive(pid)).toBe(false);
});

test('refuses to join a server that does not take the password of the folder', async () => {
  const dir = join(folder, 'data');
  const owner = await startEmbeddedPostgres({ dir, ephemeral: true });
  await queryOnce(owner.superuserUrl, "alter role postgres password 'changed'");
  await expect(startEmbeddedPostgres({ dir, ephemeral: true })).rejects.toThrow(/does not take our password/);
  await owner.stop();
});

test('stop does not wait for clients', async () => {
  const server = await startEmbeddedPostgres({ dir: lasting });
  const client = await connect(server.url);
  const busy = client.query('select pg_sleep(60)').catch(() => 'cut off');
  const begun = performance.now();
  await server.stop();
  expect(performance.now() - begun).toBeLessThan(GONE_MS_MAX);
  expect(await busy).toBe('cut off');
});

test.skipIf(process.platform === 'win32')('stop ends even a server that does not react, within its grace', async () => {
  const server = await startWith({ dir: lasting }, { stopGraceMs: 200 });
  process.kill(server.pid, 'SIGSTOP');
  await server.stop();
  expect(isAlive(server.pid)).toBe(false);
});
