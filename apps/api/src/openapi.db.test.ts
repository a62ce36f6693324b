import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildDocument } from './build-document.js';
import { startTestApi, type TestApi } from './testing/test-api.js';
import { VERSION } from './version.js';

interface Operation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly object[];
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly responses: Readonly<Record<string, { readonly description?: string; readonly content?: object }>>;
}
interface OpenApi {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, object>>>>;
}

const document = (await buildDocument(VERSION)) as OpenApi;
const OPERATIONS = Object.entries(document.paths).flatMap(([path, operations]) =>
  Object.entries(operations).map(([method, operation]) => ({
    path,
    method: method.toUpperCase(),
    operation,
    id: operation.operationId ?? `${method} ${path}`,
  })),
);

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

describe('the OpenAPI document', () => {
  it('that is committed is the one that the routes make (if not: npm run openapi in apps/api)', async () => {
    const committed = JSON.parse(await readFile(new URL('../openapi.json', import.meta.url), 'utf8'));
    expect(committed).toEqual(document);
  });

  it('is the one that is served', async () => {
    const served = (await api.anyone.get('/openapi.json')).json<{ info: { version: string } }>();
    expect({ ...served, info: { ...served.info, version: VERSION } }).toEqual(document);
  });

  it('is OpenAPI 3.1 whose references all lead somewhere', () => {
    expect(document.openapi).toMatch(/^3\.1\./);
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(
      ([, reference = '']) => reference,
    );
    expect(references.length).toBeGreaterThan(0);
    for (const reference of new Set(references)) {
      const [, kind = '', name = ''] = /^#\/components\/([^/]+)\/([^/]+)$/.exec(reference) ?? [];
      expect(document.components[kind]?.[name], reference).toBeDefined();
    }
  });

  it('holds no schema that no operation leads to', () => {
    const text = JSON.stringify(document);
    const names = Object.keys(document.components.schemas ?? {});
    expect(names).toEqual([...names].sort());
    expect(names.filter((name) => !text.includes(`"#/components/schemas/${name}"`))).toEqual([]);
  });

  it.each(OPERATIONS)('describes $method $path', ({ operation, path }) => {
    expect(operation).toMatchObject({
      operationId: expect.stringMatching(/^[a-z][A-Za-z]+$/),
      summary: expect.stringMatching(/./),
      tags: [expect.any(String)],
      security: expect.any(Array),
    });
    for (const [, name = ''] of path.matchAll(/\{([^}]+)\}/g)) {
      expect(operation.parameters).toContainEqual(expect.objectContaining({ name, in: 'path', required: true }));
    }
    for (const { description, content } of Object.values(operation.responses)) {
      expect(description).toMatch(/./);
      expect(description).not.toBe('Default Response');
      expect(content).toBeDefined();
    }
  });

  it('gives every operation an id of its own', () => {
    const ids = OPERATIONS.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)]);
  });
});

/**
 * What a caller without authority gets from every operation there is, with an example of its address. A new operation
 * has no entry, and fails until somebody has decided.
 */
const WITHOUT_AUTHORITY: Readonly<Record<string, readonly [url: string, status: number]>> = {
  readDoor: ['/api/dispatch', 200],
  invoke: ['/api/dispatch', 401],
  listRows: ['/api/directory', 401],
  createRow: ['/api/directory', 401],
  countRows: ['/api/directory/counts', 401],
  getRow: ['/api/directory/NOW', 401],
  replaceRow: ['/api/directory/NOW', 401],
  changeRow: ['/api/directory/NOW', 401],
  deleteRow: ['/api/directory/NOW', 401],
  listRowVersions: ['/api/directory/NOW/versions', 401],
  getRowVersion: ['/api/directory/NOW/versions/1', 401],
  diffRowVersions: ['/api/directory/NOW/versions/2/diff', 401],
  restoreRowVersion: ['/api/directory/NOW/versions/1/restore', 401],
  testRow: ['/api/directory/NOW/test', 401],
  importRows: ['/api/directory:import', 401],
  exportRows: ['/api/directory:export', 401],
  mintGrant: ['/api/grants', 401],
  attenuateGrant: ['/api/grants/attenuate', 401],
  listGrants: ['/api/grants', 401],
  explainGrant: ['/api/grants/cap_0', 401],
  revokeGrant: ['/api/grants/cap_0/revoke', 401],
  listApprovals: ['/api/approvals', 401],
  getApproval: ['/api/approvals/inv_0', 401],
  approveCall: ['/api/approvals/inv_0/approve', 401],
  denyCall: ['/api/approvals/inv_0/deny', 401],
  listInvocations: ['/api/invocations', 401],
  listAsks: ['/api/asks', 401],
  measureAsks: ['/api/asks/quality', 401],
  listEvents: ['/api/events', 401],
  receiptPage: [`/receipt/inv_${'0'.repeat(32)}`, 404],
  explainError: ['/errors/unauthorized', 200],
  live: ['/livez', 200],
  ready: ['/readyz', 200],
};

describe('a caller without authority', () => {
  it.each(OPERATIONS)('is met as decided at $id', async ({ id, method, path, operation }) => {
    const decided = WITHOUT_AUTHORITY[id];
    expect(decided, `${id} has no entry in WITHOUT_AUTHORITY`).toBeDefined();
    const [url = '', status] = decided ?? [];
    expect(url.split('?')[0]).toMatch(new RegExp(`^${path.replace(/\{[^}]+\}/g, '[^/]+')}$`));
    expect(await api.anyone.send(method, url)).toMatchObject({ status });
    const wrongKey = { authorization: 'Bearer wrong', 'x-terminal-key': 'wrong' };
    expect(await api.anyone.send(method, url, { headers: wrongKey })).toMatchObject({ status });
    // The document tells the same: without a credential, or with one.
    const isPublic = operation.security?.some((requirement) => Object.keys(requirement).length === 0) ?? false;
    expect(isPublic).toBe(status !== 401);
    if (status === 401) expect(operation.responses).toHaveProperty('401');
  });

  it('is met nowhere that the document does not know', () => {
    expect(Object.keys(WITHOUT_AUTHORITY).sort()).toEqual(OPERATIONS.map(({ id }) => id).sort());
  });
});

describe('the reference at /docs', () => {
  it('loads from this server alone', async () => {
    const page = await api.anyone.get('/docs');
    expect(page.status).toBe(200);
    const csp = String(page.headers['content-security-policy']);
    expect(csp).toMatch(/(^|; )default-src 'self'(;|$)/);
    expect(csp).not.toMatch(/https?:|\*|unsafe-eval/);
    const addresses = [...page.text.matchAll(/(?:src|href|content)="([^"]*)"/g)].map(([, address = '']) => address);
    expect(addresses.length).toBeGreaterThan(0);
    expect(addresses.filter((address) => /^(https?:)?\/\//.test(address))).toEqual([]);
  });

  it('finds everything that it loads', async () => {
    const page = await api.anyone.get('/docs');
    const assets = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, asset = '']) => asset);
    expect(assets.some((asset) => asset.endsWith('.js'))).toBe(true);
    for (const asset of assets) {
      const { pathname } = new URL(asset, 'http://server.example/docs');
      expect(await api.anyone.get(pathname), pathname).toMatchObject({ status: 200 });
    }
  });

  it('shows the very document, and sends it to no validator', async () => {
    const script = await api.anyone.get('/docs/static/swagger-initializer.js');
    expect(script.text).toContain("resolveUrl('./json')");
    expect(script.text).toMatch(/"validatorUrl":\s*null/);
    expect((await api.anyone.get('/docs/json')).json()).toEqual((await api.anyone.get('/openapi.json')).json());
  });
});
