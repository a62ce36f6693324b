import { AppError } from '@rowcall/errors';
import type { RowWrite } from '@rowcall/protocol';
import { makeRow, type TestStore, testStore } from '@rowcall/testing';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  deleteRow,
  findVersion,
  insertNewRows,
  insertRow,
  listDeletions,
  listRows,
  listVersions,
  updateRow,
} from './directory.js';
import type { Store } from './store.js';
import { openClient, waitForLockWaiter } from './testing/clients.js';

const BY_OWNER = { actor: 'owner', reason: 'a test', fingerprint: 'f1' };

describe('the directory', () => {
  let database: TestStore;
  let store: Store;
  let other: pg.Client;
  let sequence = 0;
  let key: string;

  const insert = (columns: Partial<RowWrite> = {}) => insertRow(store.db, makeRow({ ...columns, key }), BY_OWNER);
  const setSeq = (seq: number, ifVersion?: number) =>
    updateRow(store.db, key, {
      actor: 'owner',
      ifVersion,
      change: (stored) => ({ row: toWrite({ ...stored, seq }), fingerprint: 'f2' }),
    });

  beforeAll(async () => {
    database = await testStore();
    store = database.store;
    other = await openClient(database.url);
  });

  beforeEach(() => {
    sequence += 1;
    key = `ROW_${sequence}`;
  });

  afterAll(async () => {
    await other.end();
    await database.drop();
  });

  test('gives back every column as it was written', async () => {
    const row: RowWrite = {
      key,
      type: 'http',
      target: 'POST https://example.org/$1',
      auth: 'bearer:TOKEN',
      content: '# WHAT: Says "hello", {braces}, \\ and 🙂.\n{"a": "$1"}',
      category: 'a category',
      allowed_categories: ['{', '"', ',', 'null', ''],
      seq: -7,
      enabled: false,
      planner_visible: false,
      planner_rank: 2_147_483_647,
      input_schema: { type: 'object', properties: { a: { enum: [1, 1.5, null, true, ['x'], {}] } } },
      examples: ['a|b', '', '{"json":[]}', '\\ " 🙂'],
      sensitive: true,
      runner: 'mac',
      includes: ['A', 'B'],
      effect: 'destructive',
      pinned_for: ['what, exactly?', '{}'],
      demoted: true,
      headers: { 'X-Header': '$1' },
      limits: { timeout_ms: 5, hosts: ['a.example'] },
      source: 'openapi:label',
    };
    const stored = await insertRow(store.db, row, BY_OWNER);
    expect(stored.row).toMatchObject(row);
    expect(await listRows(store.db, [key])).toEqual([stored]);
    expect(await findVersion(store.db, key, 1)).toMatchObject(row);
  });

  test('gives back null for JSON columns that are null, and empty arrays for empty ones', async () => {
    const { row } = await insert({ examples: [] });
    expect(row).toMatchObject({ input_schema: null, headers: null, limits: null, examples: [], includes: [] });
    const { rows } = await other.query('select input_schema is null as is_null from directory where key = $1', [key]);
    expect(rows).toEqual([{ is_null: true }]);
  });

  test('gives times in RFC 3339', async () => {
    const { row } = await insert();
    expect(row.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  test('refuses to insert a key that is there', async () => {
    await insert();
    await expect(insert()).rejects.toMatchObject({ code: 'key_exists', message: `a row with key ${key} exists` });
  });

  test.each([
    ['U+0000 in a schema', { input_schema: { description: '\0' } }],
    ['a lone surrogate in a schema', { input_schema: { description: '\ud800' } }],
    ['a number out of range', { seq: 3_000_000_000 }],
  ])('refuses %s as a row that is not well formed', async (_name, columns) => {
    await expect(insert(columns)).rejects.toMatchObject({ code: 'invalid_row' });
    expect(await listRows(store.db, [key])).toEqual([]);
  });

  test('records actor, reason and fingerprint of each change', async () => {
    await insert();
    await setSeq(3);
    await deleteRow(store.db, key, { actor: 'cap:1' });
    expect(await listVersions(store.db, key)).toMatchObject([
      { version: 3, deleted: true, actor: 'cap:1', reason: null, fingerprint: 'f2' },
      { version: 2, deleted: false, actor: 'owner', reason: null, fingerprint: 'f2' },
      { version: 1, deleted: false, actor: 'owner', reason: 'a test', fingerprint: 'f1' },
    ]);
  });

  test('keeps the fingerprint that the writer computed when only documentation changed', async () => {
    await insert();
    const { fingerprint } = await updateRow(store.db, key, {
      actor: 'owner',
      change: (stored) => ({ row: toWrite({ ...stored, content: '# WHAT: Other words.' }), fingerprint: 'f1' }),
    });
    expect(fingerprint).toBe('f1');
  });

  test('keeps the version when an update changes nothing', async () => {
    const inserted = await insert();
    expect(await setSeq(0)).toEqual(inserted);
    expect(await listVersions(store.db, key)).toHaveLength(1);
  });

  test.each([
    ['update', () => setSeq(1)],
    ['delete', () => deleteRow(store.db, key, { actor: 'owner' })],
  ])('refuses to %s a key that no row has', async (_name, write) => {
    await expect(write()).rejects.toMatchObject({ code: 'unknown_key', message: `no row has the key ${key}` });
  });

  test('refuses to change a row that is at another version than the writer read', async () => {
    await insert();
    await setSeq(1);
    const refusal = { code: 'version_mismatch', details: { version: 2 } };
    await expect(setSeq(2, 1)).rejects.toMatchObject(refusal);
    await expect(deleteRow(store.db, key, { actor: 'owner', ifVersion: 1 })).rejects.toMatchObject(refusal);
    expect((await setSeq(2, 2)).row.version).toBe(3);
    expect(await deleteRow(store.db, key, { actor: 'owner', ifVersion: 3 })).toBe(4);
  });

  test('changes nothing when the computation of the change fails', async () => {
    const inserted = await insert();
    const change = () => {
      throw new AppError('hygiene_refused', 'not like that');
    };
    await expect(updateRow(store.db, key, { actor: 'owner', change })).rejects.toThrow('not like that');
    expect(await listRows(store.db, [key])).toEqual([inserted]);
  });

  test('lets a second writer wait, and shows it what the first one wrote', async () => {
    await insert();
    await other.query('begin');
    await other.query('update directory set category = $2 where key = $1', [key, 'first']);
    const second = setSeq(9);
    await waitForLockWaiter(other);
    await other.query('commit');
    expect((await second).row).toMatchObject({ category: 'first', seq: 9, version: 3 });
  });

  test('refuses the second of two writers that read the same version', async () => {
    await insert();
    const results = await Promise.allSettled([setSeq(1, 1), setSeq(2, 1)]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect((await listVersions(store.db, key)).map(({ version }) => version)).toEqual([2, 1]);
  });

  test('refuses the second of two writers that insert the same key', async () => {
    await other.query('begin');
    await other.query(`insert into directory (key, type) values ($1, 'fn')`, [key]);
    const second = insert();
    const refused = expect(second).rejects.toMatchObject({ code: 'key_exists' });
    await waitForLockWaiter(other);
    await other.query('commit');
    await refused;
  });

  test('inserts a key that another writer is just deleting, after the deletion', async () => {
    await insert();
    await other.query('begin');
    await other.query('delete from directory where key = $1', [key]);
    const anew = insert();
    await waitForLockWaiter(other);
    await other.query('commit');
    expect((await anew).row.version).toBe(3);
  });

  test('seeds only keys that have no history', async () => {
    await insert();
    await deleteRow(store.db, key, { actor: 'owner' });
    const changes = [key, `${key}_NEW`].map((name) => ({ row: makeRow({ key: name }), fingerprint: 'f' }));
    expect(await insertNewRows(store.db, changes, { actor: 'seed' })).toEqual([`${key}_NEW`]);
    expect(await insertNewRows(store.db, changes, { actor: 'seed' })).toEqual([]);
    expect(await listRows(store.db, [key])).toEqual([]);
    expect(await listVersions(store.db, `${key}_NEW`)).toMatchObject([{ version: 1, actor: 'seed' }]);
  });

  test('seeds each key once when processes start together', async () => {
    const changes = ['A', 'B', 'C'].map((name) => ({ row: makeRow({ key: `${key}_${name}` }), fingerprint: 'f' }));
    const seeded = await Promise.all([1, 2, 3].map(() => insertNewRows(store.db, changes, { actor: 'seed' })));
    expect(seeded.flat().sort()).toEqual([`${key}_A`, `${key}_B`, `${key}_C`]);
  });

  test('tells the newest deletion of keys that were deleted', async () => {
    await insert();
    await deleteRow(store.db, key, { actor: 'owner' });
    await insert();
    await deleteRow(store.db, key, { actor: 'owner' });
    await insert();
    expect(await listDeletions(store.db, [key, 'NEVER'])).toEqual([{ key, version: 4 }]);
  });
});

/** The columns of a row that a writer sets. */
function toWrite({
  version: _version,
  created_at: _created,
  updated_at: _updated,
  ...row
}: RowWrite & {
  version: number;
  created_at: string;
  updated_at: string;
}): RowWrite {
  return row;
}
