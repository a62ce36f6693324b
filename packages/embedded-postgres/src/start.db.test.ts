import { readFile, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './index.js';
import { PASSWORD_FILE } from './passwords.js';
import { isAlive } from './process-check.js';
import { type Bench, makeBench, queryOnce } from './testing/harness.js';

let bench: Bench;
let folder: string;
let server: EmbeddedPostgres;

beforeAll(async () => {
  bench = await makeBench();
  folder = await bench.makeFolder();
  server = await startEmbeddedPostgres({ dir: join(folder, 'shared'), ephemeral: true });
});

afterAll(async () => {
  await server.stop();
  await bench.clear();
});

const withPassword = (url: string, password: string) => {
  const changed = new URL(url);
  changed.password = password;
  return changed.href;
};

test('serves PostgreSQL 18 in UTF-8 to a role that owns its database and is no superuser', async () => {
  const [row] = await queryOnce(
    server.url,
    `select current_setting('server_version_num')::int / 10000 as version, current_setting('server_encoding') as encoding,
       current_user as role, rolsuper, rolcreaterole, current_database() as database,
       pg_get_userbyid(datdba) as owner, current_setting('max_connections') as connections
     from pg_roles, pg_database where rolname = current_user and datname = current_database()`,
  );
  expect(row).toEqual({
    version: 18,
    encoding: 'UTF8',
    role: 'rowcall',
    rolsuper: false,
    rolcreaterole: false,
    database: 'rowcall',
    owner: 'rowcall',
    connections: '200',
  });
});

test('refuses every login without the right password, the superuser included', async () => {
  for (const url of [server.url, server.superuserUrl]) {
    await expect(queryOnce(withPassword(url, 'wrong'), 'select 1')).rejects.toThrow(/password authentication failed/);
    await expect(queryOnce(withPassword(url, ''), 'select 1')).rejects.toThrow(/password/);
  }
  const rules = await queryOnce(server.superuserUrl, 'select distinct auth_method from pg_hba_file_rules');
  expect(rules).toEqual([{ auth_method: 'scram-sha-256' }]);
});

test('gives the role another password than the superuser, and keeps both in a private file', async () => {
  expect(new URL(server.url).password).not.toBe(new URL(server.superuserUrl).password);
  const path = join(folder, 'shared', PASSWORD_FILE);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await stat(join(folder, 'shared.log'))).mode & 0o777).toBe(0o600);
});

test('listens on 127.0.0.1 alone and on no socket file', async () => {
  const rows = await queryOnce(
    server.superuserUrl,
    "select name, setting from pg_settings where name in ('listen_addresses', 'unix_socket_directories') order by 1",
  );
  expect(rows).toEqual([
    { name: 'listen_addresses', setting: '127.0.0.1' },
    { name: 'unix_socket_directories', setting: '' },
  ]);
});

test('an ephemeral server does not sync, lets the role create databases, and is gone from disk after stop', async () => {
  const dir = join(folder, 'ephemeral');
  const own = await startEmbeddedPostgres({ dir, ephemeral: true, database: 'other', settings: { work_mem: '5MB' } });
  const [row] = await queryOnce(
    own.url,
    "select current_setting('fsync') as fsync, current_setting('work_mem') as mem",
  );
  expect(row).toEqual({ fsync: 'off', mem: '5MB' });
  await queryOnce(own.url, 'create database fresh');
  await Promise.all([own.stop(), own.stop()]);
  await own.stop();
  expect(isAlive(own.pid)).toBe(false);
  await expect(stat(dir)).rejects.toThrow('ENOENT');
  await expect(stat(`${dir}.log`)).rejects.toThrow('ENOENT');
});

test('a durable server syncs, lets the role create no databases, and comes back with rows, passwords and port', async () => {
  const dir = join(folder, 'deep/er', 'durable');
  const first = await startEmbeddedPostgres({ dir });
  const settings = await queryOnce(
    first.url,
    "select string_agg(setting, ',') as s from pg_settings where name in ('fsync', 'synchronous_commit', 'full_page_writes')",
  );
  expect(settings).toEqual([{ s: 'on,on,on' }]);
  await expect(queryOnce(first.url, 'create database more')).rejects.toThrow(/permission denied/);
  await queryOnce(first.url, "create table kept as select 'here' as word");
  await first.stop();
  const begun = performance.now();
  const second = await startEmbeddedPostgres({ dir });
  expect(performance.now() - begun).toBeLessThan(2_000);
  expect(second.url).toBe(first.url);
  expect(await queryOnce(second.url, 'select word from kept')).toEqual([{ word: 'here' }]);
  await second.stop();
  await expect(startEmbeddedPostgres({ dir, ephemeral: true })).rejects.toThrow(/holds lasting data/);
  const log = await readFile(`${dir}.log`, 'utf8');
  expect(log).toContain('database system is ready');
  expect(log).not.toContain(new URL(first.url).password);
});

test('takes another port when the one used last time is taken, and says so when the port was asked for', async () => {
  const dir = join(folder, 'ports');
  const first = await startEmbeddedPostgres({ dir });
  const port = Number(new URL(first.url).port);
  await first.stop();
  const squatter = createServer().listen(port, '127.0.0.1');
  try {
    const second = await startEmbeddedPostgres({ dir });
    expect(new URL(second.url).port).not.toBe(String(port));
    await second.stop();
    await expect(startEmbeddedPostgres({ dir, port })).rejects.toThrow(`port ${port} on 127.0.0.1 is taken`);
  } finally {
    squatter.close();
  }
});

test('does not hold the event loop while it starts', async () => {
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 5);
  const own = await startEmbeddedPostgres({ dir: join(folder, 'loop'), ephemeral: true });
  clearInterval(timer);
  await own.stop();
  expect(longest).toBeLessThan(300);
});
