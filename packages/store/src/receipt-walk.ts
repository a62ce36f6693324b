import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Database } from './schema.js';

type Db = Kysely<Database>;

/**
 * Receipts that one question looks at, whether they fit or not: where no index has what a filter combines, a page
 * ends there, short, instead of reading the ledger to its end.
 */
export const WALK_MAX = 1_000;

/** The smallest invocation id of a moment (ms since 1970): ids begin with their time. */
export const toFirstId = (epochMs: number): string => `inv_${Math.max(0, epochMs).toString(16).padStart(12, '0')}`;

/** Ids from `from` on and below `before`; both may be such as no receipt has. */
export interface IdRange {
  readonly from: string;
  readonly before: string;
}

/** Holds every id. */
export const ALL_IDS: IdRange = { from: 'inv_', before: 'inv_g' };

/** A way through some receipts, newest first, along one index. */
export interface Walk {
  /** Condition that the index alone decides. */
  readonly where: RawBuilder<boolean>;
  /** The very order of the index, backwards. */
  readonly newestFirst: RawBuilder<unknown>;
}

/** Columns that begin an index whose second column is the id. */
type LeadingColumn = 'key' | 'actor' | 'outcome' | 'material' | 'replay_of' | 'repairs' | 'ask_id';

/** Walks all receipts of a range. */
export const walkAll = ({ from, before }: IdRange): Walk => ({
  where: sql`id >= ${from} and id < ${before}`,
  newestFirst: sql`id desc`,
});

/**
 * Walks the receipts that have `value` in `column`.
 *
 * It compares pairs, which only the index of (column, id) can both find and give in order. With `column = value order by
 * id desc` Postgres would be free to walk the primary key instead and to pass over everything else on its way, which
 * it does for a value that was frequent once: fourteen seconds, among ten million receipts, for a key that nobody
 * called lately. Pairs that include their ends are taken for at least as many as there are of the value: for few,
 * Postgres might collect and sort them all.
 * @param partial the condition of a partial index, as it stands there.
 */
export function walkValue(
  column: LeadingColumn,
  value: string | boolean,
  { from, before }: IdRange,
  partial: RawBuilder<boolean> = sql<boolean>`true`,
): Walk {
  const lead = sql.ref(column);
  return {
    where: sql<boolean>`(${lead}, id) >= (${value}, ${from}) and (${lead}, id) <= (${value}, ${before})
      and id < ${before} and ${partial}`,
    newestFirst: sql`${lead} desc, id desc`,
  };
}

/** Walks the receipts of one trace: so few that they are sorted. */
export const walkTrace = (trace: string, { from, before }: IdRange): Walk => ({
  where: sql`trace = ${trace} and id >= ${from} and id < ${before}`,
  newestFirst: sql`id desc`,
});

/** The receipts of a walk, as many as one question looks at. */
export const walkReceipts = ({ where, newestFirst }: Walk) =>
  sql`select * from receipt where ${where} order by ${newestFirst} limit ${WALK_MAX}`;

/** Id of the last receipt that a question looks at on this walk; undefined when the walk ends before. */
export async function findWalkEnd(db: Db, { where, newestFirst }: Walk): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    select id from receipt where ${where} order by ${newestFirst} offset ${WALK_MAX - 1} limit 1`.execute(db);
  return rows[0]?.id;
}

/** The shortest of some walks, as far as one question looks. */
export async function chooseWalk(db: Db, walks: readonly [Walk, ...Walk[]]): Promise<Walk> {
  const [first] = walks;
  if (walks.length === 1) return first;
  const counts = walks.map(
    ({ where, newestFirst }) => sql<number>`
      (select count(*) from (select from receipt where ${where} order by ${newestFirst} limit ${WALK_MAX}) as passed)::integer`,
  );
  const { rows } = await sql<{ counts: number[] }>`select array[${sql.join(counts)}] as counts`.execute(db);
  const lengths = rows[0]?.counts ?? [];
  return walks[lengths.indexOf(Math.min(...lengths))] ?? first;
}
