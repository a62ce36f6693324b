import { type Kysely, sql } from 'kysely';
import { ANYONE, toFirstAskId } from './ask.js';
import type { Database } from './schema.js';

/** A question that led to a call of a row. */
export interface LearnedPair {
  /** As it is kept: redacted, and cut. */
  readonly question: string;
  readonly key: string;
  /** Asks in which it did. */
  readonly count: number;
}

/** Calls that name an ask which one answer looks at: the newest. */
const CALLS_MAX = 20_000;

/**
 * What callers with a credential asked, and called by name of that ask with success, since a moment (ms since 1970): the
 * most frequent pairs, `limit` at the most. Questions that held a secret teach nothing.
 */
export async function listLearnedPairs(
  db: Kysely<Database>,
  { sinceMs, limit }: { sinceMs: number; limit: number },
): Promise<LearnedPair[]> {
  const { rows } = await sql<LearnedPair>`
    with named as materialized (
      select ask_id, key, actor, outcome, parent from receipt
      where ask_id >= ${toFirstAskId(sinceMs)} and ask_id < 'ask_g'
      order by ask_id desc, id desc limit ${CALLS_MAX}
    )
    select ask.question, named.key, count(distinct ask.id)::integer as count
    from named join ask on ask.id = named.ask_id
    where named.parent is null and named.outcome = 'succeeded' and ask.actor <> ${ANYONE} and ask.actor = named.actor
      and named.key = any (ask.keys) and ask.question not like '%[redacted]%'
    group by 1, 2 order by 3 desc, 1, 2 limit ${limit}`.execute(db);
  return rows;
}
