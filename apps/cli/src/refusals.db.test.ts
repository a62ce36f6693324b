import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { emptyDatabase } from '@rowcall/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { Caller } from './testing/caller.js';
import { cleanUp, newDataDir, START, startProgram, startServer } from './testing/started.js';

afterAll(cleanUp);

/** Runs a start that must fail. */
async function refuse(env: NodeJS.ProcessEnv): Promise<{ code: number | null; output: string; ms: number }> {
  const start = performance.now();
  const started = startProgram({
    words: START,
    env: { ROWCALL_DATA_DIR: newDataDir(), ROWCALL_PORT: '0', ...env },
  });
  const { code } = await started.ended;
  const output = started.output();
  expect(output).not.toMatch(/^ +at /m); // a stack trace
  return { code, output, ms: performance.now() - start };
}

describe('a start that cannot be', () => {
  it('names the port that is taken, and the setting', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    const { code, output } = await refuse({ ROWCALL_PORT: String(port) });
    other.close();
    expect(code).toBe(1);
    expect(output).toMatch(new RegExp(`port ${port} of 127\\.0\\.0\\.1 is taken.*ROWCALL_PORT`));
  });

  it('names the host that this machine does not have', async () => {
    const { code, output } = await refuse({ ROWCALL_HOST: '192.0.2.1', ROWCALL_PORT: '8787' });
    expect(code).toBe(1);
    expect(output).toContain('ROWCALL_HOST');
  });

  it('says that and where a server runs on the folder already, and leaves that alone', async () => {
    const server = await startServer();
    const { code, output } = await refuse({ ROWCALL_DATA_DIR: server.dataDir });
    expect(code).toBe(1);
    expect(output).toContain(`runs already on ${server.dataDir}`);
    expect(output).toContain(server.url);
    const third = await refuse({ ROWCALL_DATA_DIR: server.dataDir });
    expect(third.code).toBe(1);
    const caller = new Caller(server);
    expect(await caller.isConfirmed(await caller.run('ECHO', 'still here'))).toBe(true);
    caller.close();
    server.signal('SIGTERM');
    expect((await server.ended).code).toBe(0);
  });

  it('lets one of several starts on a folder have it, and tells the others', async () => {
    const dataDir = newDataDir();
    const env = { ROWCALL_DATA_DIR: dataDir, ROWCALL_PORT: '0' };
    const started = [1, 2, 3].map(() => startProgram({ words: START, env }));
    const outcomes = started.map((each) => each.until(/Ctrl-C stops everything|runs already/).then(([text]) => text));
    expect((await Promise.all(outcomes)).sort()).toEqual(['Ctrl-C stops everything', 'runs already', 'runs already']);
    for (const each of started) each.signal('SIGTERM');
    const codes = (await Promise.all(started.map((each) => each.ended))).map(({ code }) => code);
    expect(codes.sort()).toEqual([0, 1, 1]);
  });

  it('names a data folder that cannot be made', async () => {
    const file = `${newDataDir()}-file`;
    writeFileSync(file, '');
    const { code, output } = await refuse({ ROWCALL_DATA_DIR: path.join(file, 'data') });
    expect(code).toBe(78);
    expect(output).toContain(`ROWCALL_DATA_DIR ${file}/data cannot be made or written`);
  });

  it('names every problem of the configuration at once', async () => {
    const { code, output } = await refuse({
      ROWCALL_PORT: '99999',
      ROWCALL_TIMEZONE: 'Mars/Olympus',
      ROWCALL_LOG_LEVEL: 'loud',
      ROWCALL_OWNER_KEY: 'short',
      ROWCALL_DATADIR: '/tmp',
    });
    expect(code).toBe(78);
    const names = ['ROWCALL_PORT', 'ROWCALL_TIMEZONE', 'ROWCALL_LOG_LEVEL', 'ROWCALL_OWNER_KEY', 'ROWCALL_DATADIR'];
    for (const name of names) expect(output).toContain(`- ${name} `);
    expect(output).not.toContain('short');
  });

  it('tells what is wrong with DATABASE_URL within seconds, without the password', async () => {
    const database = await emptyDatabase();
    const wrong = new URL(database.url);
    wrong.password = 'not-the-password';
    const missing = new URL(database.url);
    missing.pathname = '/no_such_database';
    const cases: [string, RegExp][] = [
      [
        'postgres://someone:not-the-password@127.0.0.1:1/x',
        /127\.0\.0\.1:1 cannot be used \(.*ECONNREFUSED.*DATABASE_URL/,
      ],
      [
        'postgres://someone:not-the-password@localhost:1/x',
        /localhost:1 cannot be used \(.*ECONNREFUSED.*DATABASE_URL/,
      ],
      [wrong.href, /password authentication failed/],
      [missing.href, /"no_such_database" does not exist/],
    ];
    for (const [url, reason] of cases) {
      const { code, output, ms } = await refuse({ DATABASE_URL: url });
      expect(code).toBe(1);
      expect(output).toMatch(reason);
      expect(output).not.toContain('not-the-password');
      expect(ms).toBeLessThan(10_000);
    }
    await database.drop();
  });
});
