import type pg from 'pg';
import { withClient } from '../database.js';

/** Keys of the rows, beside {@link RETIRED_KEY}: the first is called most, one call in six. */
export const KEY_COUNT = 200;
/** Actors beside the owner, who makes one call in five. */
export const ACTOR_COUNT = 500;
/** A key that had one call in ten in the first half of the year, and none since. */
export const RETIRED_KEY = 'RETIRED';

const YEAR_MS = 365 * 86_400_000;
const CHUNK = 50_000;
/** Connections that load: one for each core of a small machine. */
const LOADERS = 2;

/** What is to be in the ledger. */
export interface Filling {
  readonly receipts: number;
  /** The end of the year that they are spread over; ms since 1970. */
  readonly untilMs: number;
}

// One receipt a turn, in the order of time, as the engine writes them. Four calls make a trace; one in ten spends
// tokens; one in fifty has a payload. `m` is a hash of its own for each.
const INSERT_CHUNK = `
with made as (
  select *, outcome = 'succeeded' and luck > 0.02 as material, lpad(to_hex(ms), 12, '0') as time from (
    select n, ($3::bigint + n * $4::float8)::bigint as ms, md5(n::text) as m, random() as luck, random() as spent,
      case when n < $5::bigint / 2 and random() < 0.1 then '${RETIRED_KEY}'
        else 'KEY_' || floor(${KEY_COUNT} * random() ^ 3) end as key,
      case when random() < 0.2 then 'owner' else 'cap:' || md5(floor(${ACTOR_COUNT} * random() ^ 2)::text) end as actor,
      (array['succeeded', 'failed', 'denied', 'timed_out', 'cancelled', 'interrupted'])[
        width_bucket(random(), array[0, 0.93, 0.97, 0.99, 0.998, 0.9995]::float8[])] as outcome
    from generate_series($1::bigint, $2::bigint) as n
  ) as drawn
),
written as (
  insert into receipt (id, trace, key, type, row_version, lane, actor, started_at, finished_at, outcome, status, material,
    input_hash, output_hash, contract_fingerprint, error, tokens_in, tokens_out, tokens_cached, cost_usd)
  select 'inv_' || time || '7' || left(m, 19),
    't_' || lpad(to_hex(($3::bigint + (n - n % 4) * $4::float8)::bigint), 12, '0') || '7' || left(md5((n / 4)::text), 19),
    key, 'fn', 1, 'inline', actor, to_timestamp(ms / 1000.0), to_timestamp(ms / 1000.0) + luck * interval '1 second', outcome,
    case when material then 'PROVEN_MATERIAL_RESULT' else 'PROVEN_ATTEMPT_NO_MATERIAL_RESULT' end, material,
    m || m, reverse(m) || m, m || reverse(m), case when outcome <> 'succeeded' then 'upstream_500' end,
    case when spent > 0.9 then 800 else 0 end, case when spent > 0.9 then 200 else 0 end, 0,
    case when spent > 0.9 then 0.002 else 0 end
  from made
)
insert into receipt_payload (receipt_id, request, request_redacted, result, result_redacted)
select 'inv_' || time || '7' || left(m, 19), '{"body":"' || m || '"}', false, '"' || m || '"', false
from made where n % 50 = 0`;

/** Fills an empty ledger and leaves it as autovacuum would. @param onProgress is told how many receipts there are. */
export async function fillLedger(url: string, filling: Filling, onProgress: (receipts: number) => void): Promise<void> {
  const starts = Array.from({ length: Math.ceil(filling.receipts / CHUNK) }, (_, index) => index * CHUNK).reverse();
  let done = 0;
  const load = async (client: pg.Client) => {
    // Loading is not what is measured.
    await client.query('set synchronous_commit = off');
    for (let start = starts.pop(); start !== undefined; start = starts.pop()) {
      const count = await insertChunk(client, start, filling);
      done += count;
      onProgress(done);
    }
  };
  await Promise.all(Array.from({ length: LOADERS }, () => withClient(url, load)));
  await withClient(url, (client) => client.query('vacuum (analyze) receipt, receipt_payload'));
}

async function insertChunk(client: pg.Client, start: number, { receipts, untilMs }: Filling): Promise<number> {
  const end = Math.min(start + CHUNK, receipts);
  const values = [start, end - 1, untilMs - YEAR_MS, YEAR_MS / receipts, receipts];
  await client.query(INSERT_CHUNK, values);
  return end - start;
}
