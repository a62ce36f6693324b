import { createHash } from 'node:crypto';
import { fingerprint } from '@rowcall/contract';
import type { RowWrite } from '@rowcall/protocol';
import { insertNewRows, migrate, type Store } from '@rowcall/store';

/** Rows in one transaction: bounded by the parameters that a statement can have. */
const BATCH = 500;

/** SHA-256 (FIPS 180-4) of the UTF-8 bytes of a text, in lower-case hex. */
export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

function toChange(row: RowWrite) {
  const functionEffect = row.type === 'fn' ? { functionEffect: 'read' as const } : {};
  return { row, fingerprint: fingerprint(row, { includes: {}, ...functionEffect }, sha256) };
}

/** Brings the database to the newest schema and writes the first `count` rows that `makeRow` makes, as a deployment would. */
export async function loadRows(store: Store, count: number, makeRow: (index: number) => RowWrite): Promise<void> {
  await migrate(store);
  for (let start = 0; start < count; start += BATCH) {
    const length = Math.min(BATCH, count - start);
    const changes = Array.from({ length }, (_, offset) => toChange(makeRow(start + offset)));
    await insertNewRows(store.db, changes, { actor: 'bench' });
  }
}
