import { type Kysely, sql } from 'kysely';
import { ALL_IDS, toFirstId, walkValue } from './receipt-walk.js';
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

/** Calls that one measurement looks at: the newest ones, so that a busy row costs no more than a quiet one. */
const CALLS_MAX = 10_000;

/** Measures the newest calls of a row since a moment (ms since 1970). */
export async function measureRow(db: Kysely<Database>, key: string, sinceMs: number): Promise<Measured> {
  const { where, newestFirst } = walkValue('key', key, { ...ALL_IDS, from: toFirstId(sinceMs) });
  const { rows } = await sql<Measured>`
    with recent as (
      select outcome, extract(epoch from finished_at - started_at) * 1000 as ms
      from receipt where ${where} and outcome <> 'denied'
      order by ${newestFirst} limit ${CALLS_MAX}
    )
    select count(*)::integer as calls,
      avg((outcome = 'succeeded')::integer)::double precision as success_rate,
      percentile_cont(0.5) within group (order by ms)::double precision as p50_ms,
      percentile_cont(0.99) within group (order by ms)::double precision as p99_ms
    from recent`.execute(db);
  return rows[0] ?? { calls: 0, success_rate: null, p50_ms: null, p99_ms: null };
}

/** One kind of failure of a row. */
export interface LastError {
  /** The failure's code, without what it names. */
  readonly code: string;
  readonly count: number;
  /** When it was seen last; RFC 3339. */
  readonly last_at: string;
}

/** What failed most recently among the newest calls of a row since a moment (ms since 1970), refusals included. */
export async function listLastErrors(
  db: Kysely<Database>,
  key: string,
  { sinceMs, limit }: { sinceMs: number; limit: number },
): Promise<LastError[]> {
  const { where, newestFirst } = walkValue('key', key, { ...ALL_IDS, from: toFirstId(sinceMs) });
  const { rows } = await sql<{ code: string; count: number; last_at: Date }>`
    with recent as (
      select error, finished_at from receipt where ${where}
      order by ${newestFirst} limit ${CALLS_MAX}
    )
    select split_part(error, ':', 1) as code, count(*)::integer as count, max(finished_at) as last_at
    from recent where error is not null
    group by 1 order by 3 desc, 1 limit ${limit}`.execute(db);
  return rows.map((row) => ({ ...row, last_at: row.last_at.toISOString() }));
}

/** JSON text of a row's newest request that gave a usable output, as it is kept; undefined when none of the newest did. */
export async function findLastGoodRequest(db: Kysely<Database>, key: string): Promise<string | undefined> {
  const { where, newestFirst } = walkValue('key', key, ALL_IDS);
  const { rows } = await sql<{ request: string }>`
    with recent as (select id, material from receipt where ${where} order by ${newestFirst} limit ${CALLS_MAX})
    select request from receipt_payload
    where receipt_id = (select id from recent where material order by id desc limit 1)`.execute(db);
  return rows[0]?.request;
}

/**
 * Fingerprint that a row had at the newest of its calls before the call `id` that `actor` made and that ran; undefined
 * when none did lately.
 */
export async function findLastContract(
  db: Kysely<Database>,
  { id, key, actor }: { id: string; key: string; actor: string },
): Promise<string | undefined> {
  const { where, newestFirst } = walkValue('key', key, { ...ALL_IDS, before: id });
  const { rows } = await sql<{ fingerprint: string }>`
    with recent as (
      select id, actor, outcome, contract_fingerprint as fingerprint from receipt
      where ${where} order by ${newestFirst} limit ${CALLS_MAX}
    )
    select fingerprint from recent
    where actor = ${actor} and outcome <> 'denied' and fingerprint is not null order by id desc limit 1`.execute(db);
  return rows[0]?.fingerprint;
}
