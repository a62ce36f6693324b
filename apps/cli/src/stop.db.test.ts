import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { startUpstream } from '@rowcall/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { Caller } from './testing/caller.js';
import { listTree, type TreeProcess, timeUntilGone } from './testing/process-tree.js';
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

/** The node process under npm and its shell. */
const launcher = (processes: readonly TreeProcess[]): number =>
  processes.find(({ command }) => /^\S*node \S*bootstrap\.mjs start/.test(command))?.pid ?? 0;

describe('the end of a server', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('%s stops every process in order', async (signal) => {
    const server = await startServer({ dataDir });
    const processes = listParts(server);
    server.signal(signal);
    expect((await server.ended).code).toBe(0);
    await timeUntilGone(processes, 1_000);
    expect(server.output()).not.toContain('starting it again');
  });

  it('Ctrl-C under npm, which passes it on a second time, lets a call end and stops every process', async () => {
    const server = await startServer({ dataDir, words: NPM_START });
    const processes = listParts(server);
    const slow = await callSlowly(server);
    server.signalGroup('SIGINT');
    await server.until(/stopping/);
    process.kill(launcher(processes), 'SIGINT');
    slow.answer();
    expect(await slow.outcome).toBe('answered');
    await slow.close();
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
    const server = await startServer({ dataDir });
    const processes = listParts(server);
    const slow = await callSlowly(server);
    server.signal('SIGINT');
    await server.until(/stopping/);
    await sleep(700); // signals closer together are one request
    server.signal('SIGINT');
    expect((await server.ended).code).toBe(0);
    await timeUntilGone(processes, 500);
    expect(await slow.outcome).toBe('broke off');
    await slow.close();
  });
});

interface SlowCall {
  readonly outcome: Promise<'answered' | 'broke off'>;
  /** Lets the upstream answer. */
  answer(): void;
  close(): Promise<void>;
}

/** Calls a row whose upstream waits. Resolves once the upstream has the request. */
async function callSlowly(server: StartedServer): Promise<SlowCall> {
  let onCalled: (response: ServerResponse) => void = () => undefined;
  const called = new Promise<ServerResponse>((resolve) => {
    onCalled = resolve;
  });
  const upstream = await startUpstream((_request, response) => onCalled(response));
  const caller = new Caller(server);
  const key = `SLOW_${server.pid}`;
  await caller.add({ key, type: 'http', target: `GET ${upstream.url}/` });
  const outcome = caller.run(key).then(
    () => 'answered' as const,
    () => 'broke off' as const,
  );
  const response = await called;
  return {
    outcome,
    answer: () => void response.end('{}'),
    close: () => {
      caller.close();
      return upstream.close();
    },
  };
}

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
