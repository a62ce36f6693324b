import { createHash } from 'node:crypto';
import { type RowWrite, silentLog } from '@rowcall/protocol';
import { deleteRow, insertRow, Listener, listRows, openStore, type Store, updateRow } from '@rowcall/store';
import { makeRow, type TestStore, testStore } from '@rowcall/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { Catalogue } from './catalogue.js';

const BY_OWNER = { actor: 'owner', fingerprint: 'f' };

describe('a catalogue', () => {
  let database: TestStore;
  /** Another process, which only writes. */
  let writer: Store;
  let catalogue: Catalogue;
  let listener: Listener;
  let clock: number;

  beforeAll(async () => {
    database = await testStore();
    writer = openStore({ url: database.url, name: 'writer', log: silentLog });
  });

  afterAll(async () => {
    await writer.close();
    await database.drop();
  });

  beforeEach(async () => {
    clock = 1_000;
    await writer.pool.query('delete from directory');
    await insert('SEEDED');
    await build();
  });

  afterEach(async () => {
    await listener.stop();
    catalogue.stop();
  });

  const build = async () => {
    catalogue = new Catalogue({
      store: database.store,
      log: silentLog,
      sha256: (text) => createHash('sha256').update(text).digest('hex'),
      now: () => clock,
      functionEffect: (name) => (name === 'ECHO' ? 'read' : undefined),
    });
    listener = listen();
    await listener.start();
  };
  const listen = () =>
    new Listener({
      url: database.url,
      name: 'catalogue',
      log: silentLog,
      subscriptions: [catalogue.subscription],
    });
  const insert = (key: string, columns: Partial<RowWrite> = {}) =>
    insertRow(writer.db, makeRow({ ...columns, key }), BY_OWNER);
  const setSeq = (key: string, seq: number) =>
    writer.pool.query('update directory set seq = $2 where key = $1', [key, seq]);
  const remove = (key: string) => deleteRow(writer.db, key, { actor: 'owner' });
  const versionOf = (key: string) => catalogue.find(key)?.row.version;
  const until = (assertion: () => void) => vi.waitFor(assertion, { timeout: 5_000, interval: 1 });
  const search = (question: string) => catalogue.search(question, { limit: 12 }).map(({ key }) => key);

  /** What the process misses: changes between the loss of a connection and the next one. */
  const whileLost = async (meanwhile: () => Promise<unknown>) => {
    await listener.stop();
    catalogue.subscription.onLost?.();
    await meanwhile();
    listener = listen();
    await listener.start();
  };

  test('holds every row when it has started', async () => {
    expect([...catalogue.entries()].map(({ row }) => row.key)).toEqual(['SEEDED']);
    expect(catalogue.find('SEEDED')?.row).toEqual((await listRows(writer.db, ['SEEDED']))[0]?.row);
  });

  test('hears of a new row, of its change, its deletion and its re-creation by another process', async () => {
    await insert('ROW');
    await until(() => expect(catalogue.find('ROW')?.row.target).toBe('ECHO'));
    const created = versionOf('ROW') ?? 0;
    await updateRow(writer.db, 'ROW', {
      actor: 'owner',
      change: () => ({ row: makeRow({ key: 'ROW', target: 'UPPER' }), fingerprint: 'g' }),
    });
    await until(() => expect(catalogue.find('ROW')?.row.target).toBe('UPPER'));
    await remove('ROW');
    await until(() => expect(catalogue.find('ROW')).toBeUndefined());
    await insert('ROW');
    await until(() => expect(versionOf('ROW')).toBe(created + 3));
  });

  test('hears of changes in plain SQL', async () => {
    await writer.pool.query(`update directory set seq = 42`);
    await until(() => expect(catalogue.find('SEEDED')?.row.seq).toBe(42));
  });

  test('does not see what is rolled back', async () => {
    const client = await writer.pool.connect();
    await client.query(`begin; insert into directory (key, type) values ('ROLLED_BACK', 'fn'); rollback`);
    client.release();
    await insert('LATER');
    await until(() => expect(versionOf('LATER')).toBeDefined());
    expect(catalogue.find('ROLLED_BACK')).toBeUndefined();
  });

  test('takes a change of 2,000 rows in one transaction whole', async () => {
    await writer.pool.query(
      `insert into directory (key, type, target) select 'BULK_' || n, 'fn', 'ECHO' from generate_series(1, 2000) n`,
    );
    await until(() => expect(catalogue.counts.rows).toBe(2_001));
    await writer.pool.query(`update directory set category = 'bulk' where key like 'BULK%'`);
    await until(() => expect([...catalogue.entries()].filter(({ row }) => row.category === 'bulk').length).toBe(2_000));
    await writer.pool.query(`delete from directory where key like 'BULK%'`);
    await until(() => expect(catalogue.counts.rows).toBe(1));
  });

  test('ends with the newest version when changes follow each other faster than they are read', async () => {
    await insert('BUSY');
    await Promise.all(Array.from({ length: 50 }, (_, seq) => setSeq('BUSY', seq + 1)));
    const [stored] = await listRows(writer.db, ['BUSY']);
    const seen: number[] = [];
    await until(() => {
      seen.push(versionOf('BUSY') ?? 0);
      expect(versionOf('BUSY')).toBe(stored?.row.version);
    });
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
  });

  describe('never goes back', () => {
    test('to an older version that a late read brings', async () => {
      const late = await listRows(writer.db, ['SEEDED']);
      await setSeq('SEEDED', 7);
      await until(() => expect(catalogue.find('SEEDED')?.row.seq).toBe(7));
      for (const row of late) catalogue.apply(row);
      expect(catalogue.find('SEEDED')?.row.seq).toBe(7);
    });

    test('to a row that was deleted since it was read', async () => {
      const late = await listRows(writer.db, ['SEEDED']);
      await remove('SEEDED');
      await until(() => expect(catalogue.find('SEEDED')).toBeUndefined());
      for (const row of late) catalogue.apply(row);
      expect(catalogue.find('SEEDED')).toBeUndefined();
      expect(search('seeded')).toEqual([]);
    });

    test('to a deletion that the row has survived', async () => {
      const deletion = await remove('SEEDED');
      await insert('SEEDED');
      await until(() => expect(versionOf('SEEDED')).toBe(deletion + 1));
      catalogue.applyDeletion('SEEDED', deletion);
      catalogue.subscription.onNotification(`SEEDED ${deletion}`);
      expect(versionOf('SEEDED')).toBe(deletion + 1);
    });

    test('to a row that was changed and deleted while nothing was heard, although it was read in between', async () => {
      let late: Awaited<ReturnType<typeof listRows>> = [];
      await whileLost(async () => {
        await setSeq('SEEDED', 8);
        late = await listRows(writer.db, ['SEEDED']);
        await remove('SEEDED');
      });
      for (const row of late) catalogue.apply(row);
      expect(catalogue.find('SEEDED')).toBeUndefined();
    });
  });

  describe('after a lost connection', () => {
    test('catches up with rows that were made, changed, deleted, and made anew meanwhile', async () => {
      await insert('DELETED');
      await insert('REMADE');
      await until(() => expect(catalogue.counts.rows).toBe(3));
      const remade = versionOf('REMADE') ?? 0;
      await whileLost(async () => {
        await insert('CREATED');
        await setSeq('SEEDED', 9);
        await remove('DELETED');
        await remove('REMADE');
        await insert('REMADE', { target: 'UPPER' });
      });
      expect(catalogue.find('SEEDED')?.row.seq).toBe(9);
      expect(catalogue.find('CREATED')).toBeDefined();
      expect(catalogue.find('DELETED')).toBeUndefined();
      expect(catalogue.find('REMADE')?.row).toMatchObject({ target: 'UPPER', version: remade + 2 });
    });

    test('catches up with more rows than one query reads', async () => {
      await whileLost(() =>
        writer.pool.query(
          `insert into directory (key, type, target) select 'MANY_' || n, 'fn', 'ECHO' from generate_series(1, 1100) n`,
        ),
      );
      expect(catalogue.counts.rows).toBe(1_101);
    });

    test('says since when it may be stale, and no longer when it has caught up', async () => {
      expect(catalogue.staleSince).toBeUndefined();
      await whileLost(async () => {
        expect(catalogue.staleSince).toBe(1_000);
        clock = 2_000;
        catalogue.subscription.onLost?.();
        expect(catalogue.staleSince).toBe(1_000);
      });
      expect(catalogue.staleSince).toBeUndefined();
    });

    test('keeps answering from memory', async () => {
      await whileLost(async () => {
        expect(catalogue.find('SEEDED')).toBeDefined();
        expect(search('gives back what it is given')).toEqual(['SEEDED']);
      });
    });

    test('catches up by itself when the server has ended its connection', async () => {
      const { rowCount } = await writer.pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where application_name = 'catalogue-listen' and datname = current_database()`,
      );
      expect(rowCount).toBe(1);
      await setSeq('SEEDED', 11);
      await until(() => expect(catalogue.find('SEEDED')?.row.seq).toBe(11));
      await until(() => expect(catalogue.staleSince).toBeUndefined());
    });
  });

  describe('whenFresh', () => {
    test('is true at once while nothing can have been missed', async () => {
      expect(await catalogue.whenFresh(0)).toBe(true);
    });

    test('waits for the catalogue to catch up', async () => {
      let waiting: Promise<boolean> | undefined;
      await whileLost(async () => {
        waiting = catalogue.whenFresh(10_000);
      });
      expect(await waiting).toBe(true);
    });

    test('is false when that takes too long', async () => {
      await whileLost(async () => expect(await catalogue.whenFresh(1)).toBe(false));
    });
  });

  describe('ensure', () => {
    test('reads a row that was not heard of yet', async () => {
      await listener.stop();
      const { row } = await insert('NEWER');
      await catalogue.ensure('NEWER', row.version);
      expect(versionOf('NEWER')).toBe(row.version);
    });

    test('reads a version that was not heard of yet, and a deletion', async () => {
      await listener.stop();
      await setSeq('SEEDED', 12);
      const [stored] = await listRows(writer.db, ['SEEDED']);
      await catalogue.ensure('SEEDED', stored?.row.version ?? 0);
      expect(catalogue.find('SEEDED')?.row.seq).toBe(12);
      await catalogue.ensure('SEEDED', await remove('SEEDED'));
      expect(catalogue.find('SEEDED')).toBeUndefined();
    });

    test('reads the row anew while changes may have been missed', async () => {
      await whileLost(async () => {
        await setSeq('SEEDED', 13);
        await catalogue.ensure('SEEDED', 1);
        expect(catalogue.find('SEEDED')?.row.seq).toBe(13);
      });
    });

    test('asks nothing of the database for a version that is there', async () => {
      await listener.stop();
      const version = versionOf('SEEDED') ?? 0;
      await setSeq('SEEDED', 14);
      await catalogue.ensure('SEEDED', version);
      expect(versionOf('SEEDED')).toBe(version);
    });
  });

  describe('what is derived from all rows', () => {
    test('is made once per revision, and anew after a change', async () => {
      const { counts, registry, revision } = catalogue;
      expect(catalogue.counts).toBe(counts);
      expect(catalogue.registry).toBe(registry);
      await insert('MORE');
      await until(() => expect(catalogue.revision).toBe(revision + 1));
      expect(catalogue.counts).toEqual({ rows: 2, enabled: 2, registry: 2, projected: 2 });
      expect(catalogue.registry.map(({ row }) => row.key)).toEqual(['MORE', 'SEEDED']);
    });

    test('is not made anew by a late read', async () => {
      const { revision } = catalogue;
      for (const row of await listRows(writer.db)) catalogue.apply(row);
      catalogue.applyDeletion('NEVER_THERE', 1);
      expect(catalogue.revision).toBe(revision);
    });

    test('is in the order of category, seq and key', async () => {
      await insert('B_SECOND', { category: 'a', seq: 2 });
      await insert('Z_FIRST', { category: 'a', seq: 1 });
      await insert('A_SECOND', { category: 'a', seq: 2 });
      await insert('DISABLED', { enabled: false });
      await insert('TEST_SCRATCH');
      await insert('HIDDEN', { planner_visible: false, category: 'z' });
      await until(() => expect(catalogue.counts.rows).toBe(7));
      expect(catalogue.registry.map(({ row }) => row.key)).toEqual([
        'Z_FIRST',
        'A_SECOND',
        'B_SECOND',
        'SEEDED',
        'HIDDEN',
      ]);
    });
  });

  test('finds only projected rows by search, from the moment that they are', async () => {
    const content = '# WHAT: Measures the depth of a lake.';
    await insert('LAKE', { content });
    await insert('LAKE_HIDDEN', { content, planner_visible: false });
    await insert('LAKE_DISABLED', { content, enabled: false });
    await insert('TEST_LAKE', { content });
    await until(() => expect(catalogue.counts.rows).toBe(5));
    expect(search('depth of a lake')).toEqual(['LAKE']);
    await writer.pool.query(`update directory set planner_visible = not planner_visible where key like 'LAKE%'`);
    await until(() => expect(catalogue.find('LAKE_HIDDEN')?.row.planner_visible).toBe(true));
    await until(() => expect(catalogue.find('LAKE')?.row.planner_visible).toBe(false));
    expect(search('depth of a lake')).toEqual(['LAKE_HIDDEN']);
    await remove('LAKE_HIDDEN');
    await until(() => expect(search('depth of a lake')).toEqual([]));
  });

  test('suggests keys of the registry only', async () => {
    await insert('WEATHER');
    await insert('WEATHERS', { enabled: false });
    await until(() => expect(catalogue.counts.rows).toBe(3));
    expect(catalogue.nearest('WEATER', 6)).toContain('WEATHER');
    expect(catalogue.nearest('WEATER', 6)).not.toContain('WEATHERS');
  });
});
