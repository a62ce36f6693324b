import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildDocument } from '../build-document.js';
import { type DatabaseGate, openDatabaseGate } from '../testing/database-gate.js';
import { buildHaystack, dumpTables } from '../testing/secret-search.js';
import { OWNER_KEY, startTestApi, type TestApi } from '../testing/test-api.js';

interface Operation {
  readonly operationId: string;
  readonly security: readonly object[];
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
}

const document = (await buildDocument('0.0.0-test')) as {
  paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};
const OPERATIONS = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    method: method.toUpperCase(),
    path,
    id: operation.operationId,
    isPublic: operation.security.some((requirement) => Object.keys(requirement).length === 0),
    names: (operation.parameters ?? []).filter((parameter) => parameter.in === 'query').map(({ name }) => name),
  })),
);
/** Names by which somebody might hope to pass a key. */
const HOPED_FOR = ['share', 'token', 'access_token', 'authorization', 'x-terminal-key', 'owner_key', 'api_key', 'key'];

let owner: TestApi;
let api: TestApi;
let gate: DatabaseGate;
beforeAll(async () => {
  // One API makes the database; the other reaches it through a gate.
  owner = await startTestApi();
  gate = await openDatabaseGate(owner.databaseUrl);
  api = await startTestApi({ databaseUrl: gate.url, logLevel: 'trace' });
});
afterAll(async () => {
  await api.close();
  await gate.close();
  await owner.close();
});

const withKey = (url: string): string[] => [
  ...HOPED_FOR.map((name) => `${url}?${name}=${OWNER_KEY}`),
  `${url}?${OWNER_KEY}`,
  `${url}?${OWNER_KEY}=1`,
  `${url}?authorization=Bearer%20${OWNER_KEY}`,
];

describe('the owner key in an address', () => {
  it.each(OPERATIONS)('is no credential at $id', async ({ method, path, isPublic, names }) => {
    const url = path
      .replace('{version}', '1')
      .replace('{id}', `inv_${'0'.repeat(32)}`)
      .replace(/\{[^}]+\}/g, 'NOW');
    for (const address of [...withKey(url), ...names.map((name) => `${url}?${name}=${OWNER_KEY}`)]) {
      const { status } = await api.anyone.send(method, address);
      if (isPublic) expect([200, 400, 401, 404, 503], address).toContain(status);
      else expect(status, address).toBe(401);
    }
  });

  it.each(['receipt=inv_00000000000000000000000000000000', 'key=NOW&detail=full'])(
    'shows nothing more of ?%s',
    async (query) => {
      const answer = await api.anyone.get(`/api/dispatch?${query}&share=${OWNER_KEY}`);
      expect(answer.json()).toMatchObject({ status: 401, error: 'unauthorized' });
    },
  );

  it.each(['/', '/api/', '/api/directory/', '/receipt/', '/errors/', '/api/events/', '/docs/'])(
    'is none in the path %s either',
    async (path) => {
      for (const method of ['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS']) {
        expect((await api.anyone.send(method, `${path}${OWNER_KEY}`)).status).not.toBe(200);
      }
    },
  );

  it('is kept nowhere, not even when the database fails', async () => {
    await gate.cut();
    for (const query of [`confirm=${OWNER_KEY}`, `receipt=${OWNER_KEY}`, `key=${OWNER_KEY}`, `ask=${OWNER_KEY}`]) {
      await api.anyone.get(`/api/dispatch?${query}`);
    }
    const failed = await api.owner.get(`/api/events?actor=${OWNER_KEY}`);
    expect(failed.status).toBe(503);
    await gate.restore();
    await api.context.refusals.flush();
    await api.context.asks.flush();
    const log = api.log.join('');
    expect(log).toContain('could not be served');
    expect(buildHaystack(log).findForms(OWNER_KEY)).toEqual([]);
    expect(buildHaystack(await dumpTables(owner.context.store)).findForms(OWNER_KEY)).toEqual([]);
  });
});
