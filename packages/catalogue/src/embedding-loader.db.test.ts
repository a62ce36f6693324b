import { createHash } from 'node:crypto';
import { silentLog } from '@rowcall/protocol';
import { Listener, saveRowEmbeddings } from '@rowcall/store';
import { makeRow } from '@rowcall/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { EmbeddingLoader } from './embedding-loader.js';
import { toEmbeddingText } from './embedding-text.js';
import { CatalogueProcess, until } from './testing/catalogue-process.js';

const MODEL = 'model-a';
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

describe('a catalogue with a loader of vectors', () => {
  let site: CatalogueProcess;
  let loader: EmbeddingLoader;
  let listener: Listener;
  /** Keys of vectors that were handed to the catalogue, and taken, so far. */
  let handed: string[];

  beforeAll(async () => {
    site = await CatalogueProcess.open();
  });
  afterAll(() => site.close());
  beforeEach(async () => {
    await site.writer.pool.query('delete from row_embedding');
    await site.begin();
    handed = [];
  });
  afterEach(async () => {
    await loader.stop();
    await listener.stop();
    await site.end();
  });

  const load = async (db = site.writer.db): Promise<void> => {
    const { catalogue } = site;
    const noting = Object.create(catalogue, {
      find: { value: catalogue.find.bind(catalogue) },
      watch: { value: catalogue.watch.bind(catalogue) },
      setEmbedding: {
        value(key: string, vector: Int8Array) {
          if (catalogue.setEmbedding(key, vector)) handed.push(key);
        },
      },
    }) as typeof catalogue;
    loader = new EmbeddingLoader({ store: { db }, catalogue: noting, model: MODEL, sha256, log: silentLog });
    listener = new Listener({
      url: site.database.url,
      name: 'loader',
      log: silentLog,
      subscriptions: [loader.subscription],
    });
    await listener.start();
  };

  /** Stores a vector of the row as it is in the database now. */
  const embed = async (key: string, what = 'Gives back what it is given.', model = MODEL) => {
    const { rows } = await site.writer.pool.query<{ version: number }>('select version from directory where key = $1', [
      key,
    ]);
    const row = { ...makeRow({ key, content: `# WHAT: ${what}` }) } as unknown as Parameters<typeof toEmbeddingText>[0];
    const textSha256 = sha256(toEmbeddingText(row));
    const vector = Int8Array.of(1, 2, 3);
    await saveRowEmbeddings(site.writer.db, model, [
      { key, version: rows[0]?.version ?? 0, textSha256, scale: 0.01, vector },
    ]);
  };
  const setContent = (key: string, content: string) =>
    site.writer.pool.query('update directory set content = $2 where key = $1', [key, content]);

  test('has the vectors that were stored before it began, more than one query reads', async () => {
    await site.writer.pool.query(
      `insert into directory (key, type, target, content)
       select 'MANY_' || n, 'fn', 'ECHO', '# WHAT: many' from generate_series(1, 1100) n`,
    );
    await until(() => expect(site.catalogue.counts.rows).toBe(1_101));
    const many = Array.from({ length: 1_100 }, (_, n) => ({
      key: `MANY_${n + 1}`,
      version: 1,
      textSha256: sha256(`many ${n + 1}\nmany`),
      scale: 0.01,
      vector: Int8Array.of(1, 2, 3),
    }));
    await saveRowEmbeddings(site.writer.db, MODEL, many);
    await load();
    await until(() => expect(site.catalogue.embedded).toBe(1_100));
  });

  test('gets a vector that is stored later', async () => {
    await load();
    await embed('SEEDED');
    await until(() => expect(handed).toEqual(['SEEDED']));
    expect(site.catalogue.embedded).toBe(1);
  });

  test('loses the vector of a row whose text changed, at once, and gets none but that of the new text', async () => {
    await load();
    await embed('SEEDED');
    await until(() => expect(site.catalogue.embedded).toBe(1));
    await setContent('SEEDED', '# WHAT: Something else.');
    await until(() => expect(site.catalogue.find('SEEDED')?.row.content).toContain('else'));
    expect(site.catalogue.embedded).toBe(0);
    // The old text's vector, stored once more: it is read, and left alone.
    await embed('SEEDED');
    await site.insert('MARKER');
    await until(() => expect(site.catalogue.find('MARKER')).toBeDefined());
    await embed('MARKER');
    await until(() => expect(handed).toEqual(['SEEDED', 'MARKER']));
    await embed('SEEDED', 'Something else.');
    await until(() => expect(site.catalogue.embedded).toBe(2));
  });

  test('has the vector again of a row that changed in anything but its text', async () => {
    await load();
    await embed('SEEDED');
    await until(() => expect(site.catalogue.embedded).toBe(1));
    await site.setSeq('SEEDED', 9);
    await until(() => expect(handed).toEqual(['SEEDED', 'SEEDED']));
    expect(site.catalogue.embedded).toBe(1);
  });

  test('has the vector again of a row that was deleted and made anew', async () => {
    await load();
    await embed('SEEDED');
    await until(() => expect(site.catalogue.embedded).toBe(1));
    await site.remove('SEEDED');
    await until(() => expect(site.catalogue.embedded).toBe(0));
    await site.insert('SEEDED');
    await until(() => expect(site.catalogue.embedded).toBe(1));
  });

  test('has no vector of another model, nor of a row that search does not show', async () => {
    await site.insert('HIDDEN', { planner_visible: false });
    await until(() => expect(site.catalogue.find('HIDDEN')).toBeDefined());
    await load();
    await embed('HIDDEN');
    await embed('SEEDED', undefined, 'model-b');
    await site.insert('MARKER');
    await until(() => expect(site.catalogue.find('MARKER')).toBeDefined());
    await embed('MARKER');
    await until(() => expect(handed).toEqual(['MARKER']));
    expect(site.catalogue.embedded).toBe(1);
  });

  test('has all of them when the connection was lost, or the database did not answer the first time', async () => {
    let failures = 2;
    const db = site.writer.db.withPlugin({
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        failures -= 1;
        if (failures >= 0) throw new Error('Connection terminated unexpectedly');
        return result;
      },
    });
    await embed('SEEDED');
    await load(db);
    await until(() => expect(site.catalogue.embedded).toBe(1));
    await site.insert('MISSED');
    await until(() => expect(site.catalogue.find('MISSED')).toBeDefined());
    listener.drop();
    await embed('MISSED');
    await until(() => expect(site.catalogue.embedded).toBe(2));
  });
});
