import { readFile } from 'node:fs/promises';
import { keepArgumentOrder } from '@rowcall/engine';
import { type RowWrite, rowWriteSchema } from '@rowcall/protocol';
import { insertNewRows } from '@rowcall/store';
import type { Context } from './context.js';

/** Rows that a new deployment begins with, seen from `src` and `dist` alike. */
const SEEDS = new URL('../../../db/seed/rows.json', import.meta.url);

/** Reads the seed rows. They pass the same checks as rows that people write. */
export async function readSeeds(): Promise<RowWrite[]> {
  const rows = JSON.parse(await readFile(SEEDS, 'utf8')) as object[];
  return rows.map((row) => rowWriteSchema.parse({ ...row, source: 'seed' }));
}

/** Adds the seed rows whose keys were never used; one that was changed or deleted stays as it is. @returns their keys. */
export async function addSeeds(context: Context): Promise<string[]> {
  const changes = (await readSeeds()).map((row) => context.directory.toChange(keepArgumentOrder(row)));
  return insertNewRows(context.store.db, changes, { actor: 'seed' });
}
