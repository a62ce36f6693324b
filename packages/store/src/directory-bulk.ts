import type { Row } from '@rowcall/protocol';
import { type Kysely, sql, type Transaction } from 'kysely';
import pg from 'pg';
import { type Authorship, asAuthor, type RowChange } from './directory.js';
import type { Database } from './schema.js';

/** What a bulk write did to one row. A row that was as it is now appears in none. */
export interface BulkResult {
  readonly created: readonly string[];
  readonly changed: readonly string[];
}

/** Columns that a writer sets, in the order of the statement. */
const COLUMNS = [
  'key',
  'type',
  'target',
  'auth',
  'content',
  'category',
  'allowed_categories',
  'seq',
  'enabled',
  'planner_visible',
  'planner_rank',
  'input_schema',
  'examples',
  'sensitive',
  'runner',
  'includes',
  'effect',
  'pinned_for',
  'demoted',
  'headers',
  'limits',
  'source',
  'fingerprint',
] as const satisfies readonly (keyof Row | 'fingerprint')[];

const LIST = sql.raw(COLUMNS.join(', '));
const ASSIGNMENTS = sql.raw(
  COLUMNS.filter((column) => column !== 'key')
    .map((column) => `${column} = excluded.${column}`)
    .join(', '),
);

/**
 * Writes rows, new and old, in one statement of the caller's transaction. No key may occur twice.
 * Keys are written in their order, so that two bulk writes cannot wait for each other.
 */
export async function upsertRows(tx: Transaction<Database>, changes: readonly RowChange[]): Promise<BulkResult> {
  const records = changes
    .map(({ row, fingerprint }) => ({ ...row, fingerprint }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  const { rows } = await sql<{ key: string; created: boolean }>`
    insert into directory (${LIST})
    select ${LIST} from json_populate_recordset(null::directory, ${JSON.stringify(records)}::json)
    on conflict (key) do update set ${ASSIGNMENTS}
    returning key, xmax = 0 as created`.execute(tx);
  return {
    created: rows.filter(({ created }) => created).map(({ key }) => key),
    changed: rows.filter(({ created }) => !created).map(({ key }) => key),
  };
}

/** Advisory lock that bulk writes share, and that one of many statements has for itself. */
const BULK_LOCK = 7_262_001;

/** Tries of a bulk write that met another writer: one of two that wait for each other is ended by Postgres. */
const TRIES = 3;
/** deadlock_detected; unique_violation, of a key that is deleted while it is written. */
const COLLISIONS = new Set(['40P01', '23505']);

/**
 * Runs bulk writes in one transaction that carries the given authorship. `work` may be run again when it meets another
 * writer. With `alone` it is run once and may be of many statements, which no other bulk write comes between: their keys
 * come in any order, and two of them would wait for each other.
 */
export async function writeBulk<T>(
  db: Kysely<Database>,
  author: Authorship,
  work: (tx: Transaction<Database>) => Promise<T>,
  { alone = false }: { alone?: boolean } = {},
): Promise<T> {
  const lock = sql.raw(alone ? 'pg_advisory_xact_lock' : 'pg_advisory_xact_lock_shared');
  for (let tries = 1; ; tries += 1) {
    try {
      return await asAuthor(db, author, async (tx) => {
        await sql`select ${lock}(${sql.lit(BULK_LOCK)})`.execute(tx);
        return work(tx);
      });
    } catch (error) {
      if (alone || tries >= TRIES || !isCollision(error)) throw error;
    }
  }
}

const isCollision = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.code !== undefined && COLLISIONS.has(error.code);
