import { type Kysely, sql } from 'kysely';
import { toFirstAskId } from './ask.js';
import { withInvoked } from './ask-invoked.js';
import type { Database } from './schema.js';

/** Asks that one answer is taken over: the newest of the period. */
const ASKS_MAX = 50_000;
/** Categories that are told apart, those with the most asks. */
const CATEGORIES_MAX = 100;

/** How well some asks were answered. Shares are 0 to 1, null without what they are shares of. */
export interface AskSums {
  readonly asks: number;
  /** For which a row fitted. */
  readonly answered: number;
  readonly answered_share: number | null;
  /** That a call followed: the sum of the next two. */
  readonly invoked: number;
  /** By calls that named the ask. */
  readonly named: number;
  /** By calls that named none, by their caller and time. */
  readonly matched: number;
  readonly without_invoke: number;
  /** Mean of 1 ÷ the place of the row that was invoked, over the asks that a call followed; 0 for a row not answered. */
  readonly mrr: number | null;
  /** Share of these in which the row stood first, or among the first five. */
  readonly hit_at_1: number | null;
  readonly hit_at_5: number | null;
}

/** How well a deployment finds. */
export interface AskQuality extends AskSums {
  /** False when the period has more asks than are looked at: these are the newest. */
  readonly complete: boolean;
  /** Asks by the place of the row that was invoked; `none` for a row that was not among those answered. */
  readonly ranks: Record<string, number>;
  /** By day (UTC), `YYYY-MM-DD`. */
  readonly by_day: ({ readonly day: string } & AskSums)[];
  /** By category of the best row, most asks first; null where nothing fitted. */
  readonly by_category: ({ readonly category: string | null } & AskSums)[];
}

const share = (part: string, whole: string) =>
  sql`round(${sql.raw(part)}::numeric / nullif(${sql.raw(whole)}, 0), 4)::double precision`;
const INVOKED = 'count(invocation_id)';

const SUMS = sql`
  count(*)::integer as asks,
  count(*) filter (where answered)::integer as answered,
  ${share('count(*) filter (where answered)', 'count(*)')} as answered_share,
  count(invocation_id)::integer as invoked,
  count(*) filter (where named)::integer as named,
  count(*) filter (where invocation_id is not null and not named)::integer as matched,
  count(*) filter (where invocation_id is null)::integer as without_invoke,
  ${share('coalesce(sum(1.0 / rank), 0)', INVOKED)} as mrr,
  ${share('count(*) filter (where rank = 1)', INVOKED)} as hit_at_1,
  ${share('count(*) filter (where rank <= 5)', INVOKED)} as hit_at_5`;

/**
 * Measures the asks of a period by the calls that followed them.
 * @param period from a moment on and before another, ms since 1970.
 */
export async function measureAsks(
  db: Kysely<Database>,
  { fromMs, toMs }: { fromMs: number; toMs: number },
): Promise<AskQuality> {
  const { rows } = await sql<AskQuality>`
    with asked as materialized (
      select id, at, actor, keys, answered, category from ask
      where id >= ${toFirstAskId(fromMs)} and id < ${toFirstAskId(toMs)} order by id desc limit ${ASKS_MAX}
    ),
    followed as materialized (${withInvoked(sql`asked`)}),
    days as (
      select to_char(at at time zone 'UTC', 'YYYY-MM-DD') as day, ${SUMS} from followed group by 1 order by 1
    ),
    categories as (
      select category, ${SUMS} from followed group by 1 order by count(*) desc, 1 limit ${CATEGORIES_MAX}
    ),
    places as (
      select coalesce(rank::text, 'none') as place, count(*)::integer as asks
      from followed where invocation_id is not null group by rank order by rank
    )
    select count(*) < ${ASKS_MAX} as complete, ${SUMS},
      (select coalesce(json_object_agg(place, asks), '{}') from places) as ranks,
      (select coalesce(json_agg(days), '[]') from days) as by_day,
      (select coalesce(json_agg(categories), '[]') from categories) as by_category
    from followed`.execute(db);
  const [quality] = rows;
  if (quality === undefined) throw new Error('a sum without groups has one row');
  return quality;
}
