import type { Receipt } from '@rowcall/protocol';

/** What a call spent. */
export interface Cost {
  readonly tokens_in: number;
  readonly tokens_out: number;
  readonly tokens_cached: number;
  readonly usd: number;
}

/** One call of a trace, with the calls that it made. */
export interface TraceNode {
  readonly invocation_id: string;
  readonly key: string;
  readonly step: number | null;
  readonly outcome: Receipt['outcome'];
  readonly started_at: string;
  readonly finished_at: string;
  /** What its own receipt says. */
  readonly cost: Cost;
  /** That and the totals of the calls below it. */
  readonly total: Cost;
  readonly children: readonly TraceNode[];
}

type ByParent = ReadonlyMap<string | null, readonly Receipt[]>;

/**
 * The receipts of a trace as trees. Roots are the calls that no call made, and those whose maker has no receipt here: it is
 * still under way, or the trace is longer than what was read of it.
 * @param receipts oldest first, which becomes the order of children.
 */
export function toTraceTree(receipts: readonly Receipt[]): TraceNode[] {
  const ids = new Set(receipts.map(({ id }) => id));
  const byParent = groupByParent(receipts);
  return receipts
    .filter(({ parent }) => parent === null || !ids.has(parent))
    .map((receipt) => toNode(receipt, byParent));
}

function groupByParent(receipts: readonly Receipt[]): ByParent {
  const groups = new Map<string | null, Receipt[]>();
  for (const receipt of receipts) {
    const siblings = groups.get(receipt.parent);
    if (siblings === undefined) groups.set(receipt.parent, [receipt]);
    else siblings.push(receipt);
  }
  return groups;
}

function toNode(receipt: Receipt, byParent: ByParent): TraceNode {
  const children = (byParent.get(receipt.id) ?? []).map((child) => toNode(child, byParent));
  const cost = toCost(receipt);
  return {
    invocation_id: receipt.id,
    key: receipt.key,
    step: receipt.step,
    outcome: receipt.outcome,
    started_at: receipt.started_at,
    finished_at: receipt.finished_at,
    cost,
    total: children.reduce((sum, { total }) => addCosts(sum, total), cost),
    children,
  };
}

const toCost = ({ tokens_in, tokens_out, tokens_cached, cost_usd }: Receipt): Cost => ({
  tokens_in,
  tokens_out,
  tokens_cached,
  usd: cost_usd,
});

/** Receipts keep millionths of a dollar; what a sum of binary fractions adds below that is none of it. */
const toMillionths = (usd: number): number => Math.round(usd * 1e6) / 1e6;

const addCosts = (a: Cost, b: Cost): Cost => ({
  tokens_in: a.tokens_in + b.tokens_in,
  tokens_out: a.tokens_out + b.tokens_out,
  tokens_cached: a.tokens_cached + b.tokens_cached,
  usd: toMillionths(a.usd + b.usd),
});
