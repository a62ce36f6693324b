import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Caller } from './testing/caller.js';
import { findInTree, listTree, timeUntilGone } from './testing/process-tree.js';
import { cleanUp, type StartedServer, startServer } from './testing/started.js';

const CONNECTIONS = 64;

let server: StartedServer;
let caller: Caller;

beforeAll(async () => {
  server = await startServer();
  caller = new Caller(server, CONNECTIONS);
});

afterAll(async () => {
  caller.close();
  server.signal('SIGTERM');
  expect((await server.ended).code).toBe(0);
  await cleanUp();
});

/** Kills a part for good and waits until it is gone. */
async function killPart(pattern: RegExp): Promise<number> {
  const pid = findInTree(server.pid, pattern);
  process.kill(pid, 'SIGKILL');
  await timeUntilGone([{ pid, command: String(pattern) }], 2_000);
  return pid;
}

const API = /api\/dist\/main\.js/;
const RUNNER = /runner\/dist\/main\.js/;
const POSTMASTER = /bin\/postgres/;

/** Calls on all connections until told to stop. @returns ids of the calls that answered 200. */
function load(): { stop(): Promise<string[]>; answered(): number } {
  const ids: string[] = [];
  let isOver = false;
  const connection = async () => {
    while (!isOver) {
      const id = await caller.run('ECHO', 'under load').catch(() => undefined);
      if (id === undefined) await new Promise((resolve) => setTimeout(resolve, 20));
      else ids.push(id);
    }
  };
  const all = Promise.all(Array.from({ length: CONNECTIONS }, connection));
  return {
    answered: () => ids.length,
    async stop() {
      isOver = true;
      await all;
      return ids;
    },
  };
}

/** Ids without a confirmed receipt. */
async function findLost(ids: readonly string[]): Promise<string[]> {
  const rest = [...ids];
  const lost: string[] = [];
  const look = async () => {
    for (let id = rest.pop(); id !== undefined; id = rest.pop()) if (!(await caller.isConfirmed(id))) lost.push(id);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, look));
  return lost;
}

/** Kills a part in the midst of load, lets calls work again, and looks for the receipt of every answer. */
async function killUnderLoad(pattern: RegExp): Promise<void> {
  const calls = load();
  await caller.eventually(async () => {
    if (calls.answered() < 5 * CONNECTIONS) throw new Error('there is no load');
  });
  await killPart(pattern);
  const atKill = calls.answered();
  await caller.eventually(async () => {
    if (calls.answered() < atKill + 2 * CONNECTIONS) throw new Error(`calls do not work again:\n${server.output()}`);
  });
  const ids = await calls.stop();
  expect(new Set(ids).size).toBe(ids.length);
  expect(await findLost(ids)).toEqual([]);
}

describe('a part that dies comes back by itself', () => {
  it('the API under the load of 64 connections: every answer has its receipt', async () => {
    await killUnderLoad(API);
    expect(await caller.isConfirmed(server.firstReceipt)).toBe(true);
  });

  it('the database under the load of 64 connections: every answer has its receipt', async () => {
    await killUnderLoad(POSTMASTER);
    expect(await caller.isConfirmed(server.firstReceipt)).toBe(true);
  });

  it('the runner: what is queued runs', async () => {
    await killPart(RUNNER);
    const queued = await caller.eventually(async () => {
      const answer = await caller.send('POST', '/api/dispatch', { key: 'ECHO', body: 'later', mode: 'async' });
      if (answer.status !== 202) throw new Error(JSON.stringify(answer.body));
      return String(answer.body.invocation_id);
    });
    await caller.eventually(async () => {
      if (!(await caller.isConfirmed(queued))) throw new Error(`not run:\n${server.output()}`);
    });
  });

  it('API, runner and database at the same time', async () => {
    const earlier = await caller.run('ECHO', 'earlier');
    await Promise.all([killPart(POSTMASTER), killPart(API), killPart(RUNNER)]);
    const later = await caller.eventually(() => caller.run('ECHO', 'later'));
    expect(await findLost([earlier, later])).toEqual([]);
  });

  it('each part runs once afterwards', () => {
    for (const part of [API, RUNNER, POSTMASTER]) {
      expect(listTree(server.pid).filter(({ command }) => part.test(command))).toHaveLength(1);
    }
  });
});
