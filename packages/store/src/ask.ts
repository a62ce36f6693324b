import { type Kysely, sql } from 'kysely';
import type pg from 'pg';
import type { Database } from './schema.js';

type Db = Kysely<Database>;

/** The actor of an ask whose caller presented no credential. */
export const ANYONE = 'anyone';

/** A question with its answer, to be written. */
export interface NewAsk {
  readonly id: string;
  /** RFC 3339; the moment that the id begins with. */
  readonly at: string;
  readonly actor: string;
  /** Redacted; at most 500 characters that a column can hold. */
  readonly question: string;
  /** What was answered, the best first; at most 12. */
  readonly keys: readonly string[];
  readonly best: string | null;
  /** 0 to 1. */
  readonly confidence: number;
  readonly category: string | null;
  /** How often it was asked since it was written last. */
  readonly times: number;
}

/** The smallest id of an ask of a moment (ms since 1970): ids begin with their time. */
export const toFirstAskId = (epochMs: number): string => `ask_${Math.max(0, epochMs).toString(16).padStart(12, '0')}`;

// One statement for any number of asks, so that it is prepared once. One that is there already was asked again.
const INSERT_ASKS = `
insert into ask (id, at, actor, question, keys, best, confidence, category, times)
select id, at, actor, question, keys, best, confidence, category, times
from json_to_recordset($1::json) as asked (id text, at timestamptz, actor text, question text, keys text[], best text,
  confidence real, category text, times integer)
on conflict (id) do update set times = ask.times + excluded.times`;

/** Writes asks, in one statement; of those that are there already, it adds up how often they were asked. */
export async function insertAsks(pool: pg.Pool, asks: readonly NewAsk[]): Promise<void> {
  await pool.query({ name: 'insert_asks', text: INSERT_ASKS, values: [JSON.stringify(asks)] });
}

/** A contract that was read in the name of an ask. */
export interface AskRead {
  readonly id: string;
  readonly actor: string;
  readonly key: string;
}

/**
 * Notes which answered rows were read. What names no ask, the ask of another caller, or a row that it was not answered
 * is passed over; a reader without a credential may be the caller.
 */
export async function noteAskReads(db: Db, reads: readonly AskRead[]): Promise<void> {
  await sql`
    update ask set read_keys = array(select distinct unnest(ask.read_keys || seen.keys) order by 1)
    from (
      select ask.id, array_agg(distinct r.key) as keys
      from json_to_recordset(${JSON.stringify(reads)}::json) 
        as r (id text collate "C", actor text, key text collate "C")
      join ask on ask.id = r.id
      where r.key = any (ask.keys) and r.key <> all (ask.read_keys)
        and (ask.actor = ${ANYONE} or r.actor in (ask.actor, ${ANYONE}))
      group by ask.id
    ) as seen
    where ask.id = seen.id`.execute(db);
}
