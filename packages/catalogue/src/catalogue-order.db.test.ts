import { listRows } from '@rowcall/store';
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

  describe('never goes back', () => {
    test('to an older version that a late read brings', async () => {
      const late = await listRows(site.writer.db, ['SEEDED']);
      await site.setSeq('SEEDED', 7);
      await until(() => expect(site.seqOf('SEEDED')).toBe(7));
      for (const row of late) site.catalogue.apply(row);
      expect(site.seqOf('SEEDED')).toBe(7);
    });

    test('to a row that was deleted since it was read', async () => {
      const late = await listRows(site.writer.db, ['SEEDED']);
      await site.remove('SEEDED');
      await until(() => expect(site.catalogue.find('SEEDED')).toBeUndefined());
      for (const row of late) site.catalogue.apply(row);
      expect(site.catalogue.find('SEEDED')).toBeUndefined();
      expect(site.search('seeded')).toEqual([]);
    });

    test('to a deletion that the row has survived', async () => {
      const deletion = await site.remove('SEEDED');
      await site.insert('SEEDED');
      await until(() => expect(site.versionOf('SEEDED')).toBe(deletion + 1));
      site.catalogue.applyDeletion('SEEDED', deletion);
      site.catalogue.subscription.onNotification(`SEEDED ${deletion}`);
      expect(site.versionOf('SEEDED')).toBe(deletion + 1);
    });

    test('to a row that was changed and deleted while nothing was heard, although it was read in between', async () => {
      let late: Awaited<ReturnType<typeof listRows>> = [];
      await site.whileLost(async () => {
        await site.setSeq('SEEDED', 8);
        late = await listRows(site.writer.db, ['SEEDED']);
        await site.remove('SEEDED');
      });
      for (const row of late) site.catalogue.apply(row);
      expect(site.catalogue.find('SEEDED')).toBeUndefined();
    });
  });

  describe('ensure', () => {
    test('reads a row that was not heard of yet', async () => {
      await site.deafen();
      const { row } = await site.insert('NEWER');
      await site.catalogue.ensure('NEWER', row.version);
      expect(site.versionOf('NEWER')).toBe(row.version);
    });

    test('reads a version that was not heard of yet, and a deletion', async () => {
      await site.deafen();
      await site.setSeq('SEEDED', 12);
      const [stored] = await listRows(site.writer.db, ['SEEDED']);
      await site.catalogue.ensure('SEEDED', stored?.row.version ?? 0);
      expect(site.seqOf('SEEDED')).toBe(12);
      await site.catalogue.ensure('SEEDED', await site.remove('SEEDED'));
      expect(site.catalogue.find('SEEDED')).toBeUndefined();
    });

    test('reads the row anew while changes may have been missed', async () => {
      await site.whileLost(async () => {
        await site.setSeq('SEEDED', 13);
        await site.catalogue.ensure('SEEDED', 1);
        expect(site.seqOf('SEEDED')).toBe(13);
      });
    });

    test('asks nothing of the database for a version that is there', async () => {
      await site.deafen();
      const version = site.versionOf('SEEDED') ?? 0;
      await site.setSeq('SEEDED', 14);
      await site.catalogue.ensure('SEEDED', version);
      expect(site.versionOf('SEEDED')).toBe(version);
    });
  });
});
