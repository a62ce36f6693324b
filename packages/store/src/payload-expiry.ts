import { type Kysely, sql } from 'kysely';
import { toFirstId } from './receipt-walk.js';
import type { Database } from './schema.js';

/** Advisory lock of the one process that deletes payloads at a time. */
const EXPIRY_LOCK = 7_266_301_004;

/** What one batch of {@link expirePayloads} did. */
export interface ExpiredPayloads {
  /** False when another process is at it: then nothing was done. */
  readonly mine: boolean;
  readonly count: number;
  /** Receipt of the last payload that was deleted; null when none was. */
  readonly last: string | null;
}

/**
 * Deletes the oldest payloads of calls that began before a moment (ms since 1970), `limit` at the most, and tells in an
 * event how many: one statement, so that nothing goes without its event. Receipts and their hashes stay.
 * @param options.after begin behind this receipt: what was just deleted need not be passed over again.
 */
export async function expirePayloads(
  db: Kysely<Database>,
  { beforeMs, limit, after = '' }: { beforeMs: number; limit: number; after?: string | undefined },
): Promise<ExpiredPayloads> {
  const before = new Date(beforeMs).toISOString();
  const { rows } = await sql<ExpiredPayloads>`
    with turn as materialized (select pg_try_advisory_xact_lock(${sql.lit(EXPIRY_LOCK)}) as mine),
    gone as (
      delete from receipt_payload
      where (select mine from turn) and receipt_id in (
        select receipt_id from receipt_payload
        where receipt_id > ${after} and receipt_id < ${toFirstId(beforeMs)} order by receipt_id limit ${limit}
      )
      returning receipt_id
    ),
    told as (
      insert into event (kind, actor, detail)
      select 'PAYLOAD_EXPIRE', 'system:retention', jsonb_build_object('count', count(*), 'before', ${before}::text)
      from gone having count(*) > 0
    )
    select (select mine from turn) as mine, count(*)::integer as count, max(receipt_id) as last from gone`.execute(db);
  return rows[0] ?? { mine: false, count: 0, last: null };
}
