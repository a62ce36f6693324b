import { makeRow, type TestStore, testStore } from '@rowcall/testing';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { insertRow } from './directory.js';
import {
  deleteOrphanEmbeddings,
  findEmbeddingDimensions,
  listEmbeddedKeys,
  listRowEmbeddings,
  listRowEmbeddingsOf,
  type NewRowEmbedding,
  saveRowEmbeddings,
  takeEmbeddingTurn,
} from './row-embedding.js';
import { openClient } from './testing/clients.js';
import { sha256 } from './testing/opened.js';

const MODEL = 'model-a';

let database: TestStore;
let client: pg.Client;
beforeAll(async () => {
  database = await testStore();
  client = await openClient(database.url);
});
afterAll(async () => {
  await client.end();
  await database.drop();
});
beforeEach(async () => {
  await client.query('delete from directory; delete from row_embedding');
});

const insert = async (key: string): Promise<number> => {
  const { row } = await insertRow(database.store.db, makeRow({ key }), { actor: 'owner', fingerprint: 'f' });
  return row.version;
};
const embedding = (key: string, version: number, vector = [1, -2, 127]): NewRowEmbedding => ({
  key,
  version,
  textSha256: sha256(key),
  scale: 0.0078,
  vector: Int8Array.from(vector),
});
const save = (...embeddings: NewRowEmbedding[]) => saveRowEmbeddings(database.store.db, MODEL, embeddings);

describe('vectors of rows', () => {
  test('come back as they were stored, page by page in the order of their keys', async () => {
    const versions = await Promise.all(['A', 'B', 'C'].map(insert));
    await save(...['C', 'A', 'B'].map((key) => embedding(key, versions['ABC'.indexOf(key)] ?? 0)));
    const page = await listRowEmbeddings(database.store.db, MODEL, { after: '', limit: 2 });
    expect(page.map(({ key }) => key)).toEqual(['A', 'B']);
    expect(page[0]).toEqual({ key: 'A', textSha256: sha256('A'), vector: Int8Array.from([1, -2, 127]) });
    const rest = await listRowEmbeddings(database.store.db, MODEL, { after: 'B', limit: 2 });
    expect(rest.map(({ key }) => key)).toEqual(['C']);
    expect(await findEmbeddingDimensions(database.store.db, MODEL)).toBe(3);
  });

  test('are of one model and one text: another of either is not found', async () => {
    await save(embedding('A', await insert('A')));
    const { db } = database.store;
    const own = { key: 'A', textSha256: sha256('A') };
    expect(await listEmbeddedKeys(db, MODEL, [own, { key: 'B', textSha256: sha256('A') }])).toEqual(['A']);
    expect(await listEmbeddedKeys(db, MODEL, [{ ...own, textSha256: sha256('another text') }])).toEqual([]);
    expect(await listEmbeddedKeys(db, 'model-b', [own])).toEqual([]);
    expect(await listRowEmbeddingsOf(db, 'model-b', ['A'])).toEqual([]);
    expect(await findEmbeddingDimensions(db, 'model-b')).toBeUndefined();
  });

  test('of a row that was changed or deleted since its text was read are not stored', async () => {
    const versions = { kept: await insert('KEPT'), changed: await insert('CHANGED'), gone: await insert('GONE') };
    await client.query(`update directory set seq = 9 where key = 'CHANGED'; delete from directory where key = 'GONE'`);
    const stored = await save(
      embedding('KEPT', versions.kept),
      embedding('CHANGED', versions.changed),
      embedding('GONE', versions.gone),
    );
    expect(stored).toEqual(['KEPT']);
    expect((await listRowEmbeddings(database.store.db, MODEL, { after: '', limit: 9 })).map(({ key }) => key)).toEqual([
      'KEPT',
    ]);
  });

  test('are told of at their commit, and no notification has more than 8,000 bytes', async () => {
    const payloads: string[] = [];
    client.on('notification', ({ payload }) => payloads.push(payload ?? ''));
    await client.query('listen rowcall_embedding');
    const keys = Array.from({ length: 150 }, (_, n) => `K${n}_`.padEnd(64, 'X'));
    await client.query(`insert into directory (key, type) select unnest($1::text[]), 'fn'`, [keys]);
    await save(...keys.map((key) => embedding(key, 1)));
    await client.query('unlisten rowcall_embedding');
    expect(payloads.map((payload) => payload.length < 8_000)).toEqual([true, true]);
    expect(payloads.flatMap((payload) => payload.split(' ')).sort()).toEqual([...keys].sort());
  });

  test('take the place of older ones', async () => {
    const version = await insert('A');
    await save(embedding('A', version));
    await saveRowEmbeddings(database.store.db, 'model-b', [embedding('A', version, [5])]);
    expect(await listRowEmbeddingsOf(database.store.db, MODEL, ['A'])).toEqual([]);
    const [other] = await listRowEmbeddingsOf(database.store.db, 'model-b', ['A']);
    expect(other?.vector).toEqual(Int8Array.from([5]));
  });

  test.each([
    ['no bytes', `1, ''`],
    ['other bytes than dimensions', `2, '\\x01'`],
    ['more dimensions than a model has', `4097, decode(repeat('01', 4097), 'hex')`],
  ])('with %s are refused by the table', async (_name, dimensionsAndVector) => {
    const insertion = client.query(
      `insert into row_embedding (key, model, text_sha256, scale, dimensions, vector)
       values ('A', 'm', '${'0'.repeat(64)}', 0.1, ${dimensionsAndVector})`,
    );
    await expect(insertion).rejects.toMatchObject({ code: '23514' });
  });

  test('of keys that have had no row for a day are cleared away', async () => {
    const versions = await Promise.all(['LIVING', 'LONG_GONE', 'JUST_GONE'].map(insert));
    await save(...['LIVING', 'LONG_GONE', 'JUST_GONE'].map((key, at) => embedding(key, versions[at] ?? 0)));
    await client.query(`update row_embedding set updated_at = now() - interval '2 days'`);
    await client.query(`delete from directory where key like '%_GONE'`);
    await client.query(`alter table directory_version disable trigger user;
      update directory_version set at = now() - interval '2 days' where key = 'LONG_GONE';
      alter table directory_version enable always trigger directory_version_append_only`);
    await deleteOrphanEmbeddings(database.store.db);
    const left = await listRowEmbeddings(database.store.db, MODEL, { after: '', limit: 9 });
    expect(left.map(({ key }) => key)).toEqual(['JUST_GONE', 'LIVING']);
  });
});

describe('the turn to compute vectors', () => {
  test('is one caller’s until its work ends, also when that fails', async () => {
    const { db } = database.store;
    await expect(
      takeEmbeddingTurn(db, async () => {
        expect(await takeEmbeddingTurn(db, async () => 'taken')).toBeUndefined();
        throw new Error('the work failed');
      }),
    ).rejects.toThrow('the work failed');
    expect(await takeEmbeddingTurn(db, async () => 'taken')).toBe('taken');
  });
});
