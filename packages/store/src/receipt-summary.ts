import { OUTCOMES, type Outcome } from '@rowcall/protocol';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { WASTE } from './receipt-filter.js';
import { WALK_MAX, type Walk, walkReceipts } from './receipt-walk.js';
import type { Database } from './schema.js';

/** What the newest receipts of a filter come to. Times are ms; rates are 0 to 1, null without receipts. */
export interface ReceiptSummary {
  /** How many receipts it is taken over: the newest that fit, as many as one question looks at. */
  readonly over: number;
  /** True when these are all that fit; false when there may be others. */
  readonly complete: boolean;
  readonly outcomes: Readonly<Record<Outcome, number>>;
  readonly material_rate: number | null;
  /** Share that was not material although tokens or money were spent. */
  readonly waste_rate: number | null;
  readonly cost_usd: number;
  readonly tokens_in: number;
  readonly tokens_out: number;
  readonly tokens_cached: number;
  /** Of the calls that ran. */
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
  readonly p99_ms: number | null;
}

/** The summary of nothing. */
export const NO_RECEIPTS: ReceiptSummary = {
  over: 0,
  complete: true,
  outcomes: Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0])) as Record<Outcome, number>,
  material_rate: null,
  waste_rate: null,
  cost_usd: 0,
  tokens_in: 0,
  tokens_out: 0,
  tokens_cached: 0,
  p50_ms: null,
  p95_ms: null,
  p99_ms: null,
};

/** Sums up what fits of a walk. Its cost does not grow with the ledger. */
export async function summarizeWalk(
  db: Kysely<Database>,
  walk: Walk,
  condition: RawBuilder<boolean>,
): Promise<ReceiptSummary> {
  const outcomes = sql.join(
    OUTCOMES.map((outcome) => sql`${sql.lit(outcome)}, count(*) filter (where outcome = ${sql.lit(outcome)})`),
  );
  // Microseconds at the finest: what a binary fraction adds below that was never measured.
  const percentile = (place: number) => sql`round(percentiles[${sql.lit(place)}]::numeric, 3)::double precision`;
  const { rows } = await sql<ReceiptSummary>`
    with passed as (${walkReceipts(walk)}),
    sums as (
      select count(*)::integer as over, json_build_object(${outcomes}) as outcomes,
        avg(material::integer)::double precision as material_rate,
        avg((${WASTE})::integer)::double precision as waste_rate,
        coalesce(sum(cost_usd), 0)::double precision as cost_usd,
        coalesce(sum(tokens_in), 0)::double precision as tokens_in,
        coalesce(sum(tokens_out), 0)::double precision as tokens_out,
        coalesce(sum(tokens_cached), 0)::double precision as tokens_cached,
        percentile_cont(array[0.5, 0.95, 0.99]) within group (order by date_part('epoch', finished_at - started_at) * 1000)
          filter (where outcome <> 'denied') as percentiles
      from passed where ${condition}
    )
    select over, (select count(*) from passed) < ${sql.lit(WALK_MAX)} as complete, outcomes, material_rate, waste_rate,
      cost_usd, tokens_in, tokens_out, tokens_cached,
      ${percentile(1)} as p50_ms, ${percentile(2)} as p95_ms, ${percentile(3)} as p99_ms
    from sums`.execute(db);
  return rows[0] ?? NO_RECEIPTS;
}
