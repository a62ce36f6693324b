import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { emptyDatabase } from '@rowcall/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { Caller } from './testing/caller.js';
import { listTree, timeUntilGone } from './testing/process-tree.js';
import { cleanUp, newDataDir, START, startProgram, startServer } from './testing/started.js';

afterAll(cleanUp);

async function untilThere(file: string): Promise<void> {
  while (!existsSync(file)) await sleep(5);
}

const findCommand = (name: string): string =>
  (process.env.PATH ?? '')
    .split(':')
    .map((folder) => path.join(folder, name))
    .find(existsSync) ?? name;

const modeOf = (file: string): number => statSync(file).mode & 0o777;

/** Of the tests that need no new one: only the first start has a database to make. */
const shared = newDataDir();

describe('a start', () => {
  it('makes a first receipt, and the next start still confirms it and keeps the owner key', async () => {
    const dataDir = shared;
    const first = await startServer({ dataDir });
    expect(new URL(first.url).port).not.toBe('0');
    expect(first.output()).toContain(path.join(dataDir, 'owner-key'));
    first.signal('SIGTERM');
    expect((await first.ended).code).toBe(0);

    const second = await startServer({ dataDir });
    expect(second.ownerKey).toBe(first.ownerKey);
    expect(second.readyMs).toBeLessThan(15_000);
    const caller = new Caller(second);
    expect(await caller.isConfirmed(first.firstReceipt)).toBe(true);
    expect(await caller.isConfirmed(second.firstReceipt)).toBe(true);
    caller.close();
    second.signal('SIGTERM');
    expect((await second.ended).code).toBe(0);
  });

  it('keeps its folder and secrets to their owner, and no secret in the logs or on the screen', async () => {
    const server = await startServer();
    const { dataDir, ownerKey } = server;
    const file = (name: string) => path.join(dataDir, name);
    const databaseUrl = new URL(readFileSync(file('database-url'), 'utf8').trim());
    const caller = new Caller(server);
    await caller.run('ECHO', 'hello');
    await caller.send('GET', '/api/dispatch?receipt=inv_none');
    caller.close();
    server.signal('SIGTERM');
    await server.ended;

    expect(modeOf(dataDir)).toBe(0o700);
    const privates = ['owner-key', 'secret-key', 'database-url', 'api.log', 'runner.log'];
    for (const name of privates) expect(modeOf(file(name))).toBe(0o600);
    const logs = readdirSync(dataDir).filter((name) => name.endsWith('.log'));
    expect(logs.sort()).toEqual(['api.log', 'postgres.log', 'runner.log']);
    const texts = [server.output(), ...logs.map((name) => readFileSync(file(name), 'utf8'))].join('\n');
    expect(texts).toContain('ready');
    expect(texts).not.toContain(ownerKey);
    expect(texts).not.toContain(readFileSync(file('secret-key'), 'utf8').trim());
    expect(texts).not.toContain(databaseUrl.password);
  });

  it.runIf(process.getuid?.() === 0)('as root works where no user namespace is to be had', async () => {
    const commands = newDataDir();
    mkdirSync(commands);
    chmodSync(path.dirname(commands), 0o755);
    for (const name of ['id', 'sh', 'setpriv']) symlinkSync(findCommand(name), path.join(commands, name));
    const dataDir = path.join(path.dirname(commands), 'data-of-root');
    const server = await startServer({ dataDir, env: { PATH: commands } });
    expect(modeOf(dataDir)).toBe(0o711);
    expect(modeOf(path.join(dataDir, 'owner-key'))).toBe(0o600);
    server.signal('SIGTERM');
    expect((await server.ended).code).toBe(0);
  });

  it('uses the database of DATABASE_URL and starts none', async () => {
    const database = await emptyDatabase();
    const server = await startServer({ env: { DATABASE_URL: database.url } });
    expect(listTree(server.pid).filter(({ command }) => /postgres/.test(command))).toEqual([]);
    expect(readdirSync(server.dataDir).sort()).toEqual(['api.log', 'owner-key', 'runner.log', 'server.json']);
    server.signal('SIGTERM');
    expect((await server.ended).code).toBe(0);
    await database.drop();
  });

  it('is possible after NOW was deleted, then without a first receipt', async () => {
    const { dataDir, ...first } = await startServer({ dataDir: shared });
    const caller = new Caller(first);
    expect((await caller.send('DELETE', '/api/directory/NOW')).status).toBeLessThan(300);
    caller.close();
    first.signal('SIGTERM');
    await first.ended;
    const second = startProgram({ words: START, env: { ROWCALL_DATA_DIR: dataDir, ROWCALL_PORT: '0' } });
    await second.until(/no first receipt: .*not by NOW[\s\S]*Ctrl-C stops everything/);
    second.signal('SIGTERM');
    expect((await second.ended).code).toBe(0);
  });

  it('refuses nothing after one that was killed at any moment before it was ready', async () => {
    const dataDir = newDataDir();
    for (const sign of ['server.json', 'postgres', 'database-url', 'api.log']) {
      const started = startProgram({ words: START, env: { ROWCALL_DATA_DIR: dataDir, ROWCALL_PORT: '0' } });
      await untilThere(path.join(dataDir, sign));
      started.signal('SIGKILL');
      await started.ended;
    }
    const server = await startServer({ dataDir });
    server.signal('SIGTERM');
    expect((await server.ended).code).toBe(0);
  });

  it.each(['server.json', 'postgres', 'api.log'])(
    'that a signal gives up once %s is there leaves nothing',
    async (sign) => {
      const dataDir = newDataDir();
      const started = startProgram({ words: START, env: { ROWCALL_DATA_DIR: dataDir, ROWCALL_PORT: '0' } });
      await untilThere(path.join(dataDir, sign));
      const processes = listTree(started.pid);
      started.signal('SIGINT');
      expect((await started.ended).code).toBe(0);
      await timeUntilGone(processes, 1_000);
      expect(started.output()).not.toContain('rowcall is at');
      expect(existsSync(path.join(dataDir, 'server.json'))).toBe(false);
    },
  );
});
