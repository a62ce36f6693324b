import type { Outcome } from '@rowcall/protocol';
import { type RawBuilder, sql } from 'kysely';
import { type IdRange, type Walk, walkAll, walkTrace, walkValue } from './receipt-walk.js';

/** Which receipts are asked for. What is not given does not matter. */
export interface ReceiptFilter {
  readonly key?: string | undefined;
  readonly trace?: string | undefined;
  readonly actor?: string | undefined;
  /** The ask that they name. */
  readonly askId?: string | undefined;
  readonly outcome?: Outcome | undefined;
  readonly material?: boolean | undefined;
  /** Not material, yet tokens or money were spent. */
  readonly waste?: true | undefined;
  /** Calls that began at this moment or later; ms since 1970. */
  readonly fromMs?: number | undefined;
  /** Calls that began before this moment; ms since 1970. */
  readonly toMs?: number | undefined;
}

/** Which receipts a caller may see at all: every one, or those of the calls that one actor made. */
export type ReceiptVisibility = 'all' | { readonly actor: string };

/** @returns the filter that shows no more than a caller may see; undefined when nothing is left. */
export function narrowFilter(filter: ReceiptFilter, visible: ReceiptVisibility): ReceiptFilter | undefined {
  if (visible === 'all') return filter;
  if (filter.actor !== undefined && filter.actor !== visible.actor) return undefined;
  return { ...filter, actor: visible.actor };
}

// Conditions of partial indexes, as the migration words them.
const MISS = sql<boolean>`(outcome <> 'succeeded' or not material)`;
const NOT_SUCCEEDED = sql<boolean>`outcome <> 'succeeded'`;
const NAMES_ASK = sql<boolean>`ask_id is not null`;
const IMMATERIAL = sql<boolean>`not material`;
/** Not material, yet tokens or money were spent. */
export const WASTE = sql<boolean>`not material and (tokens_in + tokens_out > 0 or cost_usd > 0)`;

/** All that a filter asks of one receipt. */
export function toCondition(filter: ReceiptFilter): RawBuilder<boolean> {
  const { key, trace, actor, askId, outcome, material, waste } = filter;
  const equal = Object.entries({ key, trace, actor, ask_id: askId, outcome, material }).filter(
    ([, value]) => value !== undefined,
  );
  const conditions = equal.map(([column, value]) => sql<boolean>`${sql.ref(column)} = ${value}`);
  if (waste) conditions.push(WASTE);
  return conditions.length === 0 ? sql<boolean>`true` : sql.join(conditions, sql` and `);
}

/**
 * The walks that pass every receipt of a filter, and others as well: which of them passes the fewest, only the
 * ledger can tell. A trace is always the shortest, and then what follows one ask.
 */
export function toWalks(filter: ReceiptFilter, range: IdRange): readonly [Walk, ...Walk[]] {
  const { key, trace, actor, askId, outcome, material, waste } = filter;
  if (trace !== undefined) return [walkTrace(trace, range)];
  if (askId !== undefined) return [walkValue('ask_id', askId, range, NAMES_ASK)];
  const unsuccessful = outcome !== undefined && outcome !== 'succeeded';
  const miss = unsuccessful || material === false || waste === true ? MISS : undefined;
  const walks: Walk[] = [];
  if (key !== undefined) walks.push(walkValue('key', key, range, miss));
  if (actor !== undefined) walks.push(walkValue('actor', actor, range, miss));
  if (unsuccessful) walks.push(walkValue('outcome', outcome, range, NOT_SUCCEEDED));
  if (waste) walks.push(walkValue('material', false, range, WASTE));
  if (walks.length === 0 && material === false) walks.push(walkValue('material', false, range, IMMATERIAL));
  const [first = walkAll(range), ...others] = walks;
  return [first, ...others];
}
