import { type Kysely, sql } from 'kysely';
import type { Database } from './schema.js';

/** What was measured of a row, from its receipts. Times are milliseconds. */
export interface Measured {
  /** Attempts that ran. */
  readonly calls: number;
  /** Share of them that did not fail, 0 to 1; null without calls. */
  readonly success_rate: number | null;
  readonly p50_ms: number | null;
  readonly p99_ms: number | null;
}

/** The smallest invocation id of a moment (ms since 1970): ids begin with their time. */
const toFirstId = (epochMs: number): string => `inv_${Math.max(0, epochMs).toString(16).padStart(12, '0')}`;

/** Calls that one measurement looks at: the newest ones, so that a busy row costs no more than a quiet one. */
const CALLS_MAX = 10_000;

/** Measures the newest calls of a row since a moment (ms since 1970). */
export async function measureRow(db: Kysely<Database>, key: string, sinceMs: number): Promise<Measured> {
  const { rows } = await sql<Measured>`
    with recent as (
      select outcome, extract(epoch from finished_at - started_at) * 1000 as ms
      from receipt where key = ${key} and id >= ${toFirstId(sinceMs)} and outcome <> 'denied'
      order by id desc limit ${CALLS_MAX}
    )
    select count(*)::integer as calls,
      avg((outcome = 'succeeded')::integer)::double precision as success_rate,
      percentile_cont(0.5) within group (order by ms)::double precision as p50_ms,
      percentile_cont(0.99) within group (order by ms)::double precision as p99_ms
    from recent`.execute(db);
  return rows[0] ?? { calls: 0, success_rate: null, p50_ms: null, p99_ms: null };
}

/** JSON text of the newest request that gave a usable output, as it is kept; undefined when none is. */
export async function findLastGoodRequest(db: Kysely<Database>, key: string): Promise<string | undefined> {
  const record = await db
    .selectFrom('receipt')
    .innerJoin('receipt_payload', 'receipt_payload.receipt_id', 'receipt.id')
    .select('receipt_payload.request')
    .where('receipt.key', '=', key)
    .where('receipt.material', '=', true)
    .orderBy('receipt.id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return record?.request;
}
