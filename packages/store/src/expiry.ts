import { type Kysely, sql } from 'kysely';
import { toFirstAskId } from './ask.js';
import { toFirstId } from './receipt-walk.js';
import type { Database } from './schema.js';

/** One batch of what is too old. */
export interface Expiry {
  /** What began before this moment goes; ms since 1970. */
  readonly beforeMs: number;
  /** So many at the most. */
  readonly limit: number;
  /** Begin behind this id: what was just deleted need not be passed over again. */
  readonly after?: string | undefined;
}

/** What one batch did. */
export interface Expired {
  /** False when another process is at it: then nothing was done. */
  readonly mine: boolean;
  readonly count: number;
  /** Id of the last that was deleted; null when none was. */
  readonly last: string | null;
}

/** A table whose rows expire in the order of their ids, which begin with their time. */
interface Expiring {
  readonly table: 'receipt_payload' | 'ask';
  readonly id: string;
  readonly toFirstId: (epochMs: number) => string;
  /** Kind of the event that tells of it. */
  readonly kind: string;
  /** Advisory lock of the one process that deletes at a time. */
  readonly lock: number;
}

/** One statement, so that nothing goes without its event. */
async function expire(
  db: Kysely<Database>,
  { table, id, toFirstId: toFirst, kind, lock }: Expiring,
  { beforeMs, limit, after = '' }: Expiry,
): Promise<Expired> {
  const before = new Date(beforeMs).toISOString();
  const key = sql.ref(id);
  const { rows } = await sql<Expired>`
    with turn as materialized (select pg_try_advisory_xact_lock(${sql.lit(lock)}) as mine),
    gone as (
      delete from ${sql.table(table)}
      where (select mine from turn) and ${key} in (
        select ${key} from ${sql.table(table)}
        where ${key} > ${after} and ${key} < ${toFirst(beforeMs)} order by ${key} limit ${limit}
      )
      returning ${key} as id
    ),
    told as (
      insert into event (kind, actor, detail)
      select ${sql.lit(kind)}, 'system:retention', jsonb_build_object('count', count(*), 'before', ${before}::text)
      from gone having count(*) > 0
    )
    select (select mine from turn) as mine, count(*)::integer as count, max(id) as last from gone`.execute(db);
  return rows[0] ?? { mine: false, count: 0, last: null };
}

const PAYLOADS = {
  table: 'receipt_payload',
  id: 'receipt_id',
  toFirstId,
  kind: 'PAYLOAD_EXPIRE',
  lock: 7_266_301_004,
} as const;

const ASKS = { table: 'ask', id: 'id', toFirstId: toFirstAskId, kind: 'ASK_EXPIRE', lock: 7_266_301_005 } as const;

/**
 * Deletes the oldest payloads of calls that began before a moment, and tells in an event how many. Receipts and their
 * hashes stay.
 */
export const expirePayloads = (db: Kysely<Database>, expiry: Expiry): Promise<Expired> => expire(db, PAYLOADS, expiry);

/** Deletes the oldest asks from before a moment, and tells in an event how many. Receipts keep the ids that they name. */
export const expireAsks = (db: Kysely<Database>, expiry: Expiry): Promise<Expired> => expire(db, ASKS, expiry);
