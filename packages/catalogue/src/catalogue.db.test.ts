import { listRows, updateRow } from '@rowcall/store';
import { makeRow } from '@rowcall/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { CatalogueProcess, until } from './testing/catalogue-process.js';

describe('a catalogue', () => {
  let site: CatalogueProcess;

  beforeAll(async () => {
    site = await CatalogueProcess.open();
  });
  beforeEach(() => site.begin());
  afterEach(() => site.end());
  afterAll(() => site.close());

  test('holds every row when it has started', async () => {
    expect([...site.catalogue.list()].map(({ row }) => row.key)).toEqual(['SEEDED']);
    expect(site.catalogue.find('SEEDED')?.toRow()).toEqual((await listRows(site.writer.db, ['SEEDED']))[0]?.row);
  });

  test('hears of a new row, of its change, its deletion and its re-creation by another process', async () => {
    await site.insert('ROW');
    await until(() => expect(site.catalogue.find('ROW')?.row.target).toBe('ECHO'));
    const created = site.versionOf('ROW') ?? 0;
    await updateRow(site.writer.db, 'ROW', {
      actor: 'owner',
      change: () => ({ row: makeRow({ key: 'ROW', target: 'UPPER' }), fingerprint: 'g' }),
    });
    await until(() => expect(site.catalogue.find('ROW')?.row.target).toBe('UPPER'));
    await site.remove('ROW');
    await until(() => expect(site.catalogue.find('ROW')).toBeUndefined());
    await site.insert('ROW');
    await until(() => expect(site.versionOf('ROW')).toBe(created + 3));
  });

  test('lets others have their turn while it takes many rows of great texts', async () => {
    const [stored] = await listRows(site.writer.db, ['SEEDED']);
    if (stored === undefined) throw new Error('the seeded row is missing');
    const words = (row: number) => Array.from({ length: 1_500 }, (_, word) => `w${row}x${word}`).join(' ');
    const rows = Array.from({ length: 50 }, (_, row) => ({
      ...stored,
      row: { ...stored.row, key: `GREAT_${row}`, content: `# WHAT: ${words(row)}` },
    }));
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 0);
    await site.catalogue.applyAll(rows);
    clearInterval(timer);
    expect(site.catalogue.find('GREAT_49')).toBeDefined();
    expect(turns).toBeGreaterThan(3);
  });

  test('hears of changes in plain SQL', async () => {
    await site.writer.pool.query(`update directory set seq = 42`);
    await until(() => expect(site.seqOf('SEEDED')).toBe(42));
  });

  test('does not see what is rolled back', async () => {
    const client = await site.writer.pool.connect();
    await client.query(`begin; insert into directory (key, type) values ('ROLLED_BACK', 'fn'); rollback`);
    client.release();
    await site.insert('LATER');
    await until(() => expect(site.versionOf('LATER')).toBeDefined());
    expect(site.catalogue.find('ROLLED_BACK')).toBeUndefined();
  });

  test('takes a change of 2,000 rows in one transaction whole', async () => {
    await site.writer.pool.query(
      `insert into directory (key, type, target) select 'BULK_' || n, 'fn', 'ECHO' from generate_series(1, 2000) n`,
    );
    await until(() => expect(site.catalogue.counts.rows).toBe(2_001));
    await site.writer.pool.query(`update directory set category = 'bulk' where key like 'BULK%'`);
    await until(() =>
      expect([...site.catalogue.list()].filter(({ row }) => row.category === 'bulk').length).toBe(2_000),
    );
    await site.writer.pool.query(`delete from directory where key like 'BULK%'`);
    await until(() => expect(site.catalogue.counts.rows).toBe(1));
  });

  test('ends with the newest version when changes follow each other faster than they are read', async () => {
    await site.insert('BUSY');
    await Promise.all(Array.from({ length: 50 }, (_, seq) => site.setSeq('BUSY', seq + 1)));
    const [stored] = await listRows(site.writer.db, ['BUSY']);
    const seen: number[] = [];
    await until(() => {
      seen.push(site.versionOf('BUSY') ?? 0);
      expect(site.versionOf('BUSY')).toBe(stored?.row.version);
    });
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
  });

  test('reads again what changed while it was being read', async () => {
    const { untilHeld, deliver } = site.hold();
    await site.setSeq('SEEDED', 20);
    await untilHeld();
    await site.setSeq('SEEDED', 21);
    await site.untilDelivered();
    expect(site.seqOf('SEEDED')).toBe(0);
    deliver();
    await until(() => expect(site.seqOf('SEEDED')).toBe(21));
  });

  test('reads a deletion and a re-creation that came while it was reading', async () => {
    const { untilHeld, deliver } = site.hold();
    await site.remove('SEEDED');
    await untilHeld();
    await site.insert('SEEDED', { seq: 22 });
    await site.untilDelivered();
    deliver();
    await until(() => expect(site.seqOf('SEEDED')).toBe(22));
  });

  describe('what is derived from all rows', () => {
    test('is made once per revision, and anew after a change', async () => {
      const { counts, registry, revision } = site.catalogue;
      expect(site.catalogue.counts).toBe(counts);
      expect(site.catalogue.registry).toBe(registry);
      await site.insert('MORE');
      await until(() => expect(site.catalogue.revision).toBe(revision + 1));
      expect(site.catalogue.counts).toEqual({ rows: 2, enabled: 2, registry: 2, projected: 2 });
      expect(site.catalogue.registry.map(({ row }) => row.key)).toEqual(['MORE', 'SEEDED']);
    });

    test('is not made anew by a late read', async () => {
      const { revision } = site.catalogue;
      for (const row of await listRows(site.writer.db)) site.catalogue.apply(row);
      site.catalogue.applyDeletion('NEVER_THERE', 1);
      expect(site.catalogue.revision).toBe(revision);
    });

    test('is in the order of category, seq and key', async () => {
      await site.insert('B_SECOND', { category: 'a', seq: 2 });
      await site.insert('Z_FIRST', { category: 'a', seq: 1 });
      await site.insert('A_SECOND', { category: 'a', seq: 2 });
      await site.insert('DISABLED', { enabled: false });
      await site.insert('TEST_SCRATCH');
      await site.insert('HIDDEN', { planner_visible: false, category: 'z' });
      await until(() => expect(site.catalogue.counts.rows).toBe(7));
      expect(site.catalogue.registry.map(({ row }) => row.key)).toEqual([
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
    await site.insert('LAKE', { content });
    await site.insert('LAKE_HIDDEN', { content, planner_visible: false });
    await site.insert('LAKE_DISABLED', { content, enabled: false });
    await site.insert('TEST_LAKE', { content });
    await until(() => expect(site.catalogue.counts.rows).toBe(5));
    expect(site.search('depth of a lake')).toEqual(['LAKE']);
    await site.writer.pool.query(`update directory set planner_visible = not planner_visible where key like 'LAKE%'`);
    await until(() => expect(site.catalogue.find('LAKE_HIDDEN')?.row.planner_visible).toBe(true));
    await until(() => expect(site.catalogue.find('LAKE')?.row.planner_visible).toBe(false));
    expect(site.search('depth of a lake')).toEqual(['LAKE_HIDDEN']);
    await site.remove('LAKE_HIDDEN');
    await until(() => expect(site.search('depth of a lake')).toEqual([]));
  });

  test('suggests keys of the registry only', async () => {
    await site.insert('WEATHER');
    await site.insert('WEATHERS', { enabled: false });
    await until(() => expect(site.catalogue.counts.rows).toBe(3));
    expect(site.catalogue.nearest('WEATER', 6)).toContain('WEATHER');
    expect(site.catalogue.nearest('WEATER', 6)).not.toContain('WEATHERS');
  });
});
