import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import path from 'node:path';
import { silentLog } from '@rowcall/protocol';
import { openStore, type Store } from '@rowcall/store';
import { startUpstream, type TestUpstream } from '@rowcall/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Caller } from './testing/caller.js';
import { findInTree, timeUntilGone } from './testing/process-tree.js';
import { cleanUp, ROOT, type Started, type StartedServer, startProgram, startServer } from './testing/started.js';

/** Milliseconds within which a change in one process must show in the other. */
const AT_ONCE_MS = 1_000;

let server: StartedServer;
let beside: Started;
let here: Caller;
let there: Caller;
let store: Store;
let upstream: TestUpstream;
/** Requests that the upstream got and does not answer by itself. */
let waiting: ServerResponse[] = [];

beforeAll(async () => {
  server = await startServer();
  const databaseUrlFile = path.join(server.dataDir, 'database-url');
  beside = startProgram({
    words: [process.execPath, path.join(ROOT, 'apps/api/dist/main.js')],
    env: { ROWCALL_DATA_DIR: server.dataDir, ROWCALL_PORT: '0', DATABASE_URL_FILE: databaseUrlFile },
  });
  const [, url = ''] = await beside.until(/"url":"([^"]+)".*"msg":"ready"/);
  here = new Caller(server);
  there = new Caller({ url, ownerKey: server.ownerKey });
  store = openStore({ url: readFileSync(databaseUrlFile, 'utf8').trim(), name: 'test', log: silentLog });
  upstream = await startUpstream((_request, response) => waiting.push(response));
});

beforeEach(() => {
  for (const response of waiting) response.destroy();
  waiting = [];
});

afterAll(async () => {
  for (const each of [here, there]) each.close();
  await store.close();
  await upstream.close();
  beside.signal('SIGTERM');
  expect((await beside.ended).code).toBe(0);
  server.signal('SIGTERM');
  expect((await server.ended).code).toBe(0);
  await cleanUp();
});

/** Waits until the upstream has a request that it has not answered yet. */
async function untilCalled(): Promise<ServerResponse> {
  return await here.eventually(async () => {
    const response = waiting.pop();
    if (response === undefined) throw new Error('the upstream was not called');
    return response;
  });
}

/** Queues a row. @returns the id of its receipt to come. */
async function queue(caller: Caller, key: string): Promise<string> {
  const answer = await caller.send('POST', '/api/dispatch', { key, body: '', mode: 'async' });
  expect(answer.status, JSON.stringify(answer.body)).toBe(202);
  return String(answer.body.invocation_id);
}

async function untilConfirmed(caller: Caller, id: string): Promise<Record<string, unknown>> {
  return await caller.eventually(async () => {
    const { body } = await caller.send('GET', `/api/dispatch?confirm=${id}`);
    if (body.confirmed !== true) throw new Error(`${id} is not confirmed: ${JSON.stringify(body)}`);
    return body;
  }, 25_000);
}

/** Kills the runner while it has a call; time passes for the database, and the one that takes its place. */
async function killRunnerDuringCall(): Promise<void> {
  const pid = findInTree(server.pid, /runner\/dist\/main\.js/);
  process.kill(pid, 'SIGKILL');
  await timeUntilGone([{ pid, command: 'runner' }], 2_000);
  await here.eventually(async () => {
    const { rows } = await store.pool.query(`select 1 from process where pid <> $1 and lanes <> '{}'`, [pid]);
    if (rows.length !== 1) throw new Error('no runner took its place');
  });
  await store.pool.query(`update process set heartbeat_at = now() - interval '1 minute' where pid = $1`, [pid]);
  await store.pool.query(`update process set beating_since = now() - interval '1 minute' where pid <> $1`, [pid]);
}

describe('two API processes on one database', () => {
  it('a row written in one is read and called in the other at once; deleted in one, it is gone in the other', async () => {
    await here.add({ key: 'SHARED', type: 'fn', target: 'ECHO' });
    await there.eventually(async () => {
      const contract = await there.send('GET', '/api/dispatch?key=SHARED');
      if (contract.status !== 200) throw new Error(JSON.stringify(contract.body));
    }, AT_ONCE_MS);
    const id = await there.run('SHARED', 'both');
    expect(await here.isConfirmed(id)).toBe(true);

    expect((await there.send('DELETE', '/api/directory/SHARED')).status).toBe(200);
    await here.eventually(async () => {
      const contract = await here.send('GET', '/api/dispatch?key=SHARED');
      if (contract.status !== 404) throw new Error(JSON.stringify(contract.body));
    }, AT_ONCE_MS);
    expect((await here.send('POST', '/api/dispatch', { key: 'SHARED' })).status).toBe(404);
    expect(await here.isConfirmed(id)).toBe(true);
    expect(await there.isConfirmed(id)).toBe(true);
  });

  it('a queued call is run by the runner, and both confirm its receipt', async () => {
    const id = await queue(there, 'ECHO');
    expect(await untilConfirmed(there, id)).toMatchObject({ key: 'ECHO', lane: 'default', outcome: 'succeeded' });
    expect(await here.isConfirmed(id)).toBe(true);
  });
});

describe('the runner is killed during a call', () => {
  it('a read runs again in the runner that takes its place', async () => {
    await here.add({ key: 'SLOW_READ', type: 'http', target: `GET ${upstream.url}/read` });
    const id = await queue(here, 'SLOW_READ');
    await untilCalled();
    await killRunnerDuringCall();
    const again = await untilCalled();
    again.writeHead(200, { 'content-type': 'application/json' }).end('{"read":true}');
    expect(await untilConfirmed(here, id)).toMatchObject({ key: 'SLOW_READ', outcome: 'succeeded' });
  });

  it('a write does not run twice: its receipt says that it was interrupted', async () => {
    await here.add({ key: 'SLOW_WRITE', type: 'http', target: `POST ${upstream.url}/write` });
    const id = await queue(here, 'SLOW_WRITE');
    await untilCalled();
    await killRunnerDuringCall();
    expect(await untilConfirmed(here, id)).toMatchObject({ key: 'SLOW_WRITE', outcome: 'interrupted' });
    expect(waiting).toEqual([]);
  });
});
