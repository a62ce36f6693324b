import type { Receipt } from '@rowcall/protocol';
import { type Kysely, type Selectable, sql } from 'kysely';
import { toReceipt } from './receipt.js';
import { narrowFilter, type ReceiptFilter, type ReceiptVisibility, toCondition, toWalks } from './receipt-filter.js';
import { ALL_IDS, type IdRange, toFirstId, type Walk } from './receipt-walk.js';
import type { Database, ReceiptTable } from './schema.js';

type Db = Kysely<Database>;

/**
 * Receipts that one question passes at the most, whether they fit or not: where no index has what a filter combines, a
 * page ends there, short, instead of reading the ledger to its end.
 */
export const PASSED_MAX = 2_000;

/** Which receipts are asked for, and which of them the caller may see. */
export interface ReceiptQuestion {
  readonly filter: ReceiptFilter;
  readonly visible: ReceiptVisibility;
}

/** A stretch of receipts, newest first. */
export interface ReceiptPage {
  readonly receipts: readonly Receipt[];
  /** The next page has the receipts below this id; null when there are none. A short page may have one, too. */
  readonly next: string | null;
}

/**
 * One page of the receipts that fit, newest first. Receipts that are added meanwhile make no page repeat or leave out
 * others, and the cost does not grow with the ledger.
 * @param options.before the page has receipts below this id alone: `next` of the page before.
 */
export async function listReceipts(
  db: Db,
  { filter, visible }: ReceiptQuestion,
  { limit, before }: { limit: number; before?: string | undefined },
): Promise<ReceiptPage> {
  const narrowed = narrowFilter(filter, visible);
  if (narrowed === undefined) return { receipts: [], next: null };
  const walk = await chooseWalk(db, narrowed, toRange(narrowed, before));
  const { rows } = await sql<Selectable<ReceiptTable>>`
    select * from (${walkReceipts(walk)}) as passed
    where ${toCondition(narrowed)} order by ${walk.newestFirst} limit ${limit + 1}`.execute(db);
  const receipts = rows.slice(0, limit).map(toReceipt);
  const last = receipts.at(-1)?.id;
  if (rows.length > limit) return { receipts, next: last ?? null };
  const end = await findWalkEnd(db, walk);
  // A receipt that was committed between the two looks moves the end towards newer ones.
  return { receipts, next: end !== undefined && last !== undefined && last < end ? last : (end ?? null) };
}

/** The receipts of a walk, as many as one question may pass. */
export const walkReceipts = ({ where, newestFirst }: Walk) =>
  sql`select * from receipt where ${where} order by ${newestFirst} limit ${PASSED_MAX}`;

/** Id of the last receipt that a question passes on this walk; undefined when the walk ends before. */
export async function findWalkEnd(db: Db, { where, newestFirst }: Walk): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    select id from receipt where ${where} order by ${newestFirst} offset ${PASSED_MAX - 1} limit 1`.execute(db);
  return rows[0]?.id;
}

/** The walk that passes the fewest receipts, as far as counting goes. */
export async function chooseWalk(db: Db, filter: ReceiptFilter, range: IdRange): Promise<Walk> {
  const walks = toWalks(filter, range);
  const [first] = walks;
  if (walks.length === 1) return first;
  const counts = walks.map(
    ({ where, newestFirst }) => sql<number>`
      (select count(*) from (select from receipt where ${where} order by ${newestFirst} limit ${PASSED_MAX}) as passed)::integer`,
  );
  const { rows } = await sql<{ counts: number[] }>`select array[${sql.join(counts)}] as counts`.execute(db);
  const passed = rows[0]?.counts ?? [];
  return walks[passed.indexOf(Math.min(...passed))] ?? first;
}

/** Ids that a filter's times allow. */
export function toRange({ fromMs, toMs }: ReceiptFilter, before?: string): IdRange {
  const end = toMs === undefined ? ALL_IDS.before : toFirstId(toMs);
  return {
    from: fromMs === undefined ? ALL_IDS.from : toFirstId(fromMs),
    before: before === undefined || before > end ? end : before,
  };
}
