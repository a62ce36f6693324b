import { type RawBuilder, sql } from 'kysely';
import { ANYONE } from './ask.js';

/** How long after an ask, in ms, a call that names none may follow it. */
const FOLLOW_MS = 600_000;
/** Calls of the caller that are looked at for it: one that does hundreds of other things first has moved on. */
const FOLLOWING_MAX = 50;

/** The smallest invocation id of the moment of an ask, and of some ms later. */
const firstIdAfter = (ms: number): RawBuilder<string> =>
  sql`'inv_' || lpad(to_hex(floor(extract(epoch from asked.at) * 1000)::bigint + ${sql.lit(ms)}::bigint), 12, '0')`;

/**
 * Asks with the call that followed each: the first that names it, of its caller or, where nobody said who asked, of
 * anybody; else, where it is known who asked, their first call that names no ask, soon after, of a row that was answered.
 * Calls within other calls are none. Each ask costs two short walks along an index, however many receipts there are.
 * @param asks rows of `ask`: all columns are handed on, with invocation_id, invoked_key, rank (from 1) and named.
 */
export const withInvoked = (asks: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select asked.*, coalesce(by_name.id, by_time.id) as invocation_id, coalesce(by_name.key, by_time.key) as invoked_key,
    array_position(asked.keys, coalesce(by_name.key, by_time.key)) as rank, by_name.id is not null as named
  from ${asks} as asked
  left join lateral (
    select id, key from receipt
    where receipt.ask_id = asked.id and parent is null and asked.actor in (receipt.actor, ${ANYONE})
    order by receipt.ask_id, receipt.id limit 1
  ) as by_name on true
  left join lateral (
    select id, key from (
      select receipt.id, receipt.key, receipt.parent, receipt.ask_id from receipt
      where asked.actor <> ${ANYONE} and by_name.id is null
        and (receipt.actor, receipt.id) >= (asked.actor, ${firstIdAfter(0)})
        and (receipt.actor, receipt.id) < (asked.actor, ${firstIdAfter(FOLLOW_MS)})
      order by receipt.actor, receipt.id limit ${sql.lit(FOLLOWING_MAX)}
    ) as following
    where parent is null and ask_id is null and key = any (asked.keys) order by id limit 1
  ) as by_time on true`;
