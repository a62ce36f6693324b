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

  describe('after a lost connection', () => {
    test('catches up with rows that were made, changed, deleted, and made anew meanwhile', async () => {
      await site.insert('DELETED');
      await site.insert('REMADE');
      await until(() => expect(site.catalogue.counts.rows).toBe(3));
      const remade = site.versionOf('REMADE') ?? 0;
      await site.whileLost(async () => {
        await site.insert('CREATED');
        await site.setSeq('SEEDED', 9);
        await site.remove('DELETED');
        await site.remove('REMADE');
        await site.insert('REMADE', { target: 'UPPER' });
      });
      expect(site.seqOf('SEEDED')).toBe(9);
      expect(site.catalogue.find('CREATED')).toBeDefined();
      expect(site.catalogue.find('DELETED')).toBeUndefined();
      expect(site.catalogue.find('REMADE')?.row).toMatchObject({ target: 'UPPER', version: remade + 2 });
    });

    test('catches up with more rows than one query reads', async () => {
      await site.whileLost(() =>
        site.writer.pool.query(
          `insert into directory (key, type, target) select 'MANY_' || n, 'fn', 'ECHO' from generate_series(1, 1100) n`,
        ),
      );
      expect(site.catalogue.counts.rows).toBe(1_101);
    });

    test('says since when it may be stale, and no longer when it has caught up', async () => {
      expect(site.catalogue.staleSince).toBeUndefined();
      await site.whileLost(async () => {
        expect(site.catalogue.staleSince).toBe(1_000);
        site.clock = 2_000;
        site.catalogue.subscription.onLost?.();
        expect(site.catalogue.staleSince).toBe(1_000);
      });
      expect(site.catalogue.staleSince).toBeUndefined();
    });

    test('keeps answering from memory', async () => {
      await site.whileLost(async () => {
        expect(site.catalogue.find('SEEDED')).toBeDefined();
        expect(site.search('gives back what it is given')).toEqual(['SEEDED']);
      });
    });

    test('catches up by itself when the server has ended its connection', async () => {
      const { rowCount } = await site.writer.pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where application_name = 'catalogue-listen' and datname = current_database()`,
      );
      expect(rowCount).toBe(1);
      await site.setSeq('SEEDED', 11);
      await until(() => expect(site.seqOf('SEEDED')).toBe(11));
      await until(() => expect(site.catalogue.staleSince).toBeUndefined());
    });
  });

  describe('whenFresh', () => {
    test('is true at once while nothing can have been missed', async () => {
      expect(await site.catalogue.whenFresh(0)).toBe(true);
    });

    test('waits for the catalogue to catch up', async () => {
      let waiting: Promise<boolean> | undefined;
      await site.whileLost(async () => {
        waiting = site.catalogue.whenFresh(10_000);
      });
      expect(await waiting).toBe(true);
    });

    test('is false when that takes too long', async () => {
      await site.whileLost(async () => expect(await site.catalogue.whenFresh(1)).toBe(false));
    });
  });
});
