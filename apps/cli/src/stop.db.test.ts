import { startUpstream } from '@rowcall/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { Caller } from './testing/caller.js';
import { findInTree, listTree, timeUntilGone } from './testing/process-tree.js';
import { cleanUp, NPM_START, newDataDir, type StartedServer, startServer } from './testing/started.js';

afterAll(cleanUp);

/** One folder for all: only the first start has a database to make. */
const dataDir = newDataDir();

/** What must be there for the test to mean anything: launcher, API, runner, database. */
function listParts(server: StartedServer) {
  const processes = listTree(server.pid);
  for (const part of [/api\/dist\/main\.js/, /runner\/dist\/main\.js/, /bin\/postgres/]) {
    expect(processes.map(({ command }) => command).filter((command) => part.test(command))).toHaveLength(1);
  }
  return processes;
}

const launcherOf = (server: StartedServer): number => findInTree(server.pid, /^\S*node \S*bootstrap\.mjs start/);

describe('the end of a server', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('%s stops every process in order', async (signal) => {
    const server = await startServer({ dataDir });
    const processes = listParts(server);
    server.signal(signal);
    expect((await server.ended).code).toBe(0);
    await timeUntilGone(processes, 1_000);
    expect(server.output()).not.toContain('starting it again');
  });

  it('Ctrl-C under npm, which passes it on a second time, stops every process in order', async () => {
    const server = await startServer({ dataDir, words: NPM_START });
    const processes = listParts(server);
    server.signalGroup('SIGINT');
    await server.until(/stopping/);
    process.kill(launcherOf(server), 'SIGINT');
    expect(await server.ended).toSatisfy(({ code, signal }) => code === 0 || code === 130 || signal === 'SIGINT');
    await timeUntilGone(processes, 5_000);
  });

  it('SIGTERM to npm alone, whose shell does not pass it on, stops every process', async () => {
    const server = await startServer({ dataDir, words: NPM_START });
    const processes = listParts(server);
    server.signal('SIGTERM');
    await timeUntilGone(processes, 5_000);
  });

  it('kill -9 of npm stops every process, and the next start confirms the receipts', async () => {
    const server = await startServer({ dataDir, words: NPM_START });
    const processes = listParts(server);
    server.signal('SIGKILL');
    await timeUntilGone(processes, 5_000);
    await expectReceipts([server.firstReceipt]);
  });

  it('kill -9 of the starting process lets API, runner and database end by themselves, and a start at once works', async () => {
    const server = await startServer({ dataDir });
    const processes = listParts(server);
    const caller = new Caller(server);
    const receipts = await Promise.all(Array.from({ length: 20 }, () => caller.run('ECHO', 'x')));
    caller.close();
    server.signal('SIGKILL');
    await expectReceipts([...receipts, server.firstReceipt], async () => {
      await timeUntilGone(processes, 1_000);
    });
  });

  it('a second signal ends calls that are under way', async () => {
    let onCalled: () => void = () => undefined;
    const called = new Promise<void>((resolve) => {
      onCalled = resolve;
    });
    const upstream = await startUpstream(() => onCalled());
    const server = await startServer({ dataDir });
    const processes = listParts(server);
    const caller = new Caller(server);
    await caller.add({ key: 'SLOW', type: 'http', target: `GET ${upstream.url}/` });
    const broken = caller.run('SLOW').then(
      () => 'answered',
      () => 'broke off',
    );
    await called;
    server.signal('SIGINT');
    await server.until(/stopping/);
    await new Promise((resolve) => setTimeout(resolve, 700)); // signals closer together are one request
    server.signal('SIGINT');
    expect((await server.ended).code).toBe(0);
    await timeUntilGone(processes, 500);
    expect(await broken).toBe('broke off');
    await upstream.close();
  });
});

/** Starts again and looks for the receipts. */
async function expectReceipts(receipts: readonly string[], whenReady = async () => {}): Promise<void> {
  const again = await startServer({ dataDir });
  await whenReady();
  const caller = new Caller(again);
  for (const id of receipts) expect(await caller.isConfirmed(id)).toBe(true);
  caller.close();
  again.signal('SIGTERM');
  expect((await again.ended).code).toBe(0);
}
