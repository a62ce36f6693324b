import { AppError } from '@rowcall/errors';
import type { Row, RowWrite } from '@rowcall/protocol';
import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import pg from 'pg';
import type { Database, DirectoryTable, DirectoryVersionTable } from './schema.js';

type Db = Kysely<Database>;

/** A row with the fingerprint that its writer computed; null after a change in plain SQL. */
export interface StoredRow {
  readonly row: Row;
  readonly fingerprint: string | null;
}

/** Who changes the directory, and why; both end in the row's history and in the event. */
export interface Authorship {
  readonly actor: string;
  readonly reason?: string | undefined;
}

/** One entry of a row's history. */
export interface RowVersion {
  readonly version: number;
  readonly deleted: boolean;
  readonly fingerprint: string | null;
  readonly actor: string;
  readonly reason: string | null;
  /** RFC 3339. */
  readonly at: string;
}

const UNIQUE_VIOLATION = '23505';
const CHECK_VIOLATION = '23514';
/** SQLSTATE class of values that a column cannot hold: a number out of range, \u0000 in JSON. */
const DATA_EXCEPTION = '22';
/** Constraint that two writers meet when one inserts a key while the other deletes it: both want the next version. */
const VERSION_TAKEN = 'directory_version_pkey';
const INSERT_TRIES = 3;

function toStoredRow(record: Selectable<DirectoryTable>): StoredRow {
  const { fingerprint, created_at, updated_at, ...columns } = record;
  return {
    fingerprint,
    row: { ...columns, created_at: created_at.toISOString(), updated_at: updated_at.toISOString() } as unknown as Row,
  };
}

/** JSON columns go out as JSON text: pg would write a JavaScript array as a Postgres array. */
export function toColumns(row: RowWrite, fingerprint: string) {
  const json = (value: unknown) => (value === null ? null : JSON.stringify(value));
  return {
    ...row,
    input_schema: json(row.input_schema),
    examples: JSON.stringify(row.examples),
    headers: json(row.headers),
    limits: json(row.limits),
    fingerprint,
  };
}

/** Runs `work` in a transaction whose changes to the directory carry the given authorship. */
export async function asAuthor<T>(
  db: Db,
  author: Authorship,
  work: (tx: Transaction<Database>) => Promise<T>,
): Promise<T> {
  try {
    return await db.transaction().execute(async (tx) => {
      await sql`select set_config('rowcall.actor', ${author.actor}, true),
                       set_config('rowcall.reason', ${author.reason ?? ''}, true)`.execute(tx);
      return work(tx);
    });
  } catch (error) {
    if (!isRefusedValue(error)) throw error;
    throw new AppError('invalid_row', `the row cannot be stored: ${error.message}`, { cause: error });
  }
}

const isRefusedValue = (error: unknown): error is pg.DatabaseError =>
  error instanceof pg.DatabaseError && (error.code === CHECK_VIOLATION || error.code?.slice(0, 2) === DATA_EXCEPTION);

/** Adds a row. @throws AppError key_exists; invalid_row for a value that its column cannot hold. */
export async function insertRow(
  db: Db,
  row: RowWrite,
  options: Authorship & { fingerprint: string },
): Promise<StoredRow> {
  const insert = () =>
    asAuthor(db, options, (tx) =>
      tx.insertInto('directory').values(toColumns(row, options.fingerprint)).returningAll().executeTakeFirstOrThrow(),
    );
  for (let tries = 1; ; tries += 1) {
    try {
      return toStoredRow(await insert());
    } catch (error) {
      if (!(error instanceof pg.DatabaseError) || error.code !== UNIQUE_VIOLATION) throw error;
      if (error.constraint === VERSION_TAKEN && tries < INSERT_TRIES) continue;
      throw new AppError('key_exists', `a row with key ${row.key} exists`, { cause: error });
    }
  }
}

/** What a change computes from the row as it is stored, under its lock. */
export interface RowChange {
  readonly row: RowWrite;
  readonly fingerprint: string;
}

/**
 * Changes a row: reads it under a lock, lets `change` compute the new one, writes it.
 * @returns the row as it now stands, at the same version when nothing changed.
 * @throws AppError unknown_key, version_mismatch when `ifVersion` is given and old, invalid_row for a value that its
 * column cannot hold, and what `change` throws.
 */
export function updateRow(
  db: Db,
  key: string,
  options: Authorship & { ifVersion?: number | undefined; change: (stored: Row) => RowChange },
): Promise<StoredRow> {
  return asAuthor(db, options, async (tx) => {
    const stored = await lockRow(tx, key, options.ifVersion);
    const { row, fingerprint } = options.change(stored.row);
    const { key: _key, ...columns } = toColumns(row, fingerprint);
    const changed = await tx
      .updateTable('directory')
      .set(columns)
      .where('key', '=', key)
      .returningAll()
      .executeTakeFirst();
    return changed === undefined ? stored : toStoredRow(changed);
  });
}

/**
 * Deletes a row; its history and receipts stay.
 * @returns the version of the deletion. @throws AppError unknown_key, version_mismatch.
 */
export function deleteRow(
  db: Db,
  key: string,
  options: Authorship & { ifVersion?: number | undefined },
): Promise<number> {
  return asAuthor(db, options, async (tx) => {
    const stored = await lockRow(tx, key, options.ifVersion);
    await tx.deleteFrom('directory').where('key', '=', key).execute();
    return stored.row.version + 1;
  });
}

async function lockRow(tx: Transaction<Database>, key: string, ifVersion: number | undefined): Promise<StoredRow> {
  const record = await tx.selectFrom('directory').selectAll().where('key', '=', key).forUpdate().executeTakeFirst();
  if (record === undefined) throw new AppError('unknown_key', `no row has the key ${key}`);
  if (ifVersion !== undefined && record.version !== ifVersion) {
    throw new AppError('version_mismatch', `row ${key} is at version ${record.version}, not ${ifVersion}`, {
      details: { version: record.version },
    });
  }
  return toStoredRow(record);
}

/** All rows, or those of the given keys. Keys that have no row are left out. */
export async function listRows(db: Db, keys?: readonly string[]): Promise<StoredRow[]> {
  const query = db.selectFrom('directory').selectAll();
  const records = await (keys === undefined
    ? query.execute()
    : query.where('key', '=', sql<string>`any(${[...keys]}::text[])`).execute());
  return records.map(toStoredRow);
}

/** The version each row stands at: little to read, and enough to see what a process has missed. */
export function listRowVersions(db: Db): Promise<{ key: string; version: number }[]> {
  return db.selectFrom('directory').select(['key', 'version']).execute();
}

/** The newest deletion of each of the given keys; a key that was never deleted is left out. */
export async function listDeletions(db: Db, keys: readonly string[]): Promise<{ key: string; version: number }[]> {
  return db
    .selectFrom('directory_version')
    .select((select) => ['key', select.fn.max('version').as('version')])
    .where('deleted', '=', true)
    .where('key', '=', sql<string>`any(${[...keys]}::text[])`)
    .groupBy('key')
    .execute();
}

/** The history of a key, newest first, the deletions included; the newest `limit` entries where one is given. */
export async function listVersions(db: Db, key: string, limit?: number): Promise<RowVersion[]> {
  const records = await db
    .selectFrom('directory_version')
    .select(['version', 'deleted', 'fingerprint', 'actor', 'reason', 'at'])
    .where('key', '=', key)
    .orderBy('version', 'desc')
    .$if(limit !== undefined, (query) => query.limit(limit ?? 0))
    .execute();
  return records.map((record) => ({ ...record, at: record.at.toISOString() }));
}

/** One version of a row as it stood. @returns undefined when the key never had it. */
export async function findVersion(db: Db, key: string, version: number): Promise<Row | undefined> {
  const record: Pick<Selectable<DirectoryVersionTable>, 'row'> | undefined = await db
    .selectFrom('directory_version')
    .select('row')
    .where('key', '=', key)
    .where('version', '=', version)
    .executeTakeFirst();
  return record?.row as Row | undefined;
}

/** Adds those rows whose keys have no history yet: a seed that was changed or deleted stays as it is. */
export function insertNewRows(db: Db, rows: readonly RowChange[], author: Authorship): Promise<string[]> {
  return asAuthor(db, author, async (tx) => {
    const keys = rows.map(({ row }) => row.key);
    const known = await tx
      .selectFrom('directory_version')
      .select('key')
      .distinct()
      .where('key', '=', sql<string>`any(${keys}::text[])`)
      .execute();
    const knownKeys = new Set(known.map(({ key }) => key));
    const fresh = rows.filter(({ row }) => !knownKeys.has(row.key));
    if (fresh.length === 0) return [];
    const inserted = await tx
      .insertInto('directory')
      .values(fresh.map(({ row, fingerprint }) => toColumns(row, fingerprint)))
      .onConflict((conflict) => conflict.doNothing())
      .returning('key')
      .execute();
    return inserted.map(({ key }) => key);
  });
}
