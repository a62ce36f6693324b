import type { Receipt } from '@rowcall/protocol';
import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import { toReceipt } from './receipt.js';
import { narrowFilter, type ReceiptFilter, type ReceiptVisibility, toCondition, toWalks } from './receipt-filter.js';
import { NO_RECEIPTS, type ReceiptSummary, summarizeWalk } from './receipt-summary.js';
import { ALL_IDS, chooseWalk, findWalkEnd, type IdRange, toFirstId, type Walk, walkReceipts } from './receipt-walk.js';
import type { Database, ReceiptTable } from './schema.js';

type Db = Kysely<Database>;

/** Which receipts are asked for, which of them the caller may see, and how many are answered. */
export interface ReceiptQuestion {
  readonly filter: ReceiptFilter;
  readonly visible: ReceiptVisibility;
  readonly limit: number;
  /** Receipts below this id alone: `next` of the page before. The summary does not mind. */
  readonly before?: string | undefined;
  /** Whether the newest receipts that fit are to be summed up. */
  readonly summarize: boolean;
}

/** A stretch of receipts, newest first. */
export interface ReceiptPage {
  readonly receipts: readonly Receipt[];
  /** The next page has the receipts below this id; null when there are none. A short page may have one, too. */
  readonly next: string | null;
  /** Null where it was not asked for. */
  readonly summary: ReceiptSummary | null;
}

/**
 * One page of the receipts that fit, newest first. Receipts that are added meanwhile make no page repeat or leave out
 * others, and the cost does not grow with the ledger.
 */
export async function listReceipts(db: Db, question: ReceiptQuestion): Promise<ReceiptPage> {
  const { visible, limit, before, summarize } = question;
  const filter = narrowFilter(question.filter, visible);
  if (filter === undefined) return { receipts: [], next: null, summary: summarize ? NO_RECEIPTS : null };
  const condition = toCondition(filter);
  const walk = await chooseWalk(db, toWalks(filter, toRange(filter, before)));
  const whole = summarize && before !== undefined ? await chooseWalk(db, toWalks(filter, toRange(filter))) : walk;
  const [page, summary] = await Promise.all([
    readPage(db, walk, { condition, limit }),
    summarize ? summarizeWalk(db, whole, condition) : null,
  ]);
  return { ...page, summary };
}

/** Ids that a filter's times allow. */
function toRange({ fromMs, toMs }: ReceiptFilter, before?: string): IdRange {
  const end = toMs === undefined ? ALL_IDS.before : toFirstId(toMs);
  return {
    from: fromMs === undefined ? ALL_IDS.from : toFirstId(fromMs),
    before: before === undefined || before > end ? end : before,
  };
}

async function readPage(
  db: Db,
  walk: Walk,
  { condition, limit }: { condition: RawBuilder<boolean>; limit: number },
): Promise<Omit<ReceiptPage, 'summary'>> {
  const { rows } = await sql<Selectable<ReceiptTable>>`
    select * from (${walkReceipts(walk)}) as passed
    where ${condition} order by ${walk.newestFirst} limit ${limit + 1}`.execute(db);
  const receipts = rows.slice(0, limit).map(toReceipt);
  const last = receipts.at(-1)?.id;
  if (rows.length > limit) return { receipts, next: last ?? null };
  const end = await findWalkEnd(db, walk);
  // A receipt that was committed between the two looks moves the end towards newer ones.
  return { receipts, next: end !== undefined && last !== undefined && last < end ? last : (end ?? null) };
}
