import { type Kysely, type RawBuilder, sql } from 'kysely';
import { toFirstAskId } from './ask.js';
import { withInvoked } from './ask-invoked.js';
import type { Database } from './schema.js';

/** An ask as it is kept, with the call that followed. */
export interface StoredAsk {
  readonly id: string;
  /** RFC 3339. */
  readonly at: string;
  readonly actor: string;
  readonly question: string;
  readonly times: number;
  readonly best: string | null;
  readonly confidence: number;
  readonly category: string | null;
  readonly keys: string[];
  readonly read_keys: string[];
  /** The first call that followed; null where none did. */
  readonly invoked: {
    readonly invocation_id: string;
    readonly key: string;
    /** Place of its row in the answer, from 1; null for a row that was not among them. */
    readonly rank: number | null;
    /** `named`: by its caller; `matched`: by caller and time. */
    readonly by: 'named' | 'matched';
  } | null;
}

/** Which asks are asked for. */
export interface AskQuestion {
  /** This one alone, whatever else is given. */
  readonly id?: string | undefined;
  /** Whether a row fitted; both when not given. */
  readonly answered?: boolean | undefined;
  /** Asks of this moment or later, and before that one; ms since 1970. */
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  /** Only ids below this one. */
  readonly before?: string | undefined;
  readonly limit: number;
}

interface Row extends Omit<StoredAsk, 'at' | 'invoked'> {
  readonly at: Date;
  readonly invocation_id: string | null;
  readonly invoked_key: string | null;
  readonly rank: number | null;
  readonly named: boolean;
}

/** Lists asks, newest first, each with the call that followed. Its cost does not grow with the number of asks. */
export async function listAsks(db: Kysely<Database>, question: AskQuestion): Promise<StoredAsk[]> {
  const { where, order } = toWalk(question);
  const { rows } = await sql<Row>`
    with asked as materialized (select * from ask where ${where} order by ${order} limit ${question.limit}),
    followed as (${withInvoked(sql`asked`)})
    select id, at, actor, question, times, best, confidence, category, keys, read_keys, invocation_id, invoked_key, rank,
      named
    from followed order by id desc`.execute(db);
  return rows.map(toStoredAsk);
}

/** Pairs are compared where `answered` is given: only its index can both find and give in order (receipt-walk.ts). */
function toWalk({ id, answered, fromMs = 0, toMs, before }: AskQuestion): {
  where: RawBuilder<boolean>;
  order: RawBuilder<unknown>;
} {
  if (id !== undefined) return { where: sql`id = ${id}`, order: sql`id desc` };
  const from = toFirstAskId(fromMs);
  const end = toMs === undefined ? 'ask_g' : toFirstAskId(toMs);
  const until = before === undefined || before > end ? end : before;
  if (answered === undefined) return { where: sql`id >= ${from} and id < ${until}`, order: sql`id desc` };
  return {
    where: sql`(answered, id) >= (${answered}, ${from}) and (answered, id) < (${answered}, ${until})`,
    order: sql`answered desc, id desc`,
  };
}

function toStoredAsk({ invocation_id, invoked_key, rank, named, at, ...ask }: Row): StoredAsk {
  const by = named ? 'named' : 'matched';
  return {
    ...ask,
    at: at.toISOString(),
    invoked: invocation_id === null ? null : { invocation_id, key: invoked_key ?? '', rank, by },
  };
}
