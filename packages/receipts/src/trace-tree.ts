import type { Receipt } from '@rowcall/protocol';

/** A call of a trace, with those that it made. */
export interface TraceNode {
  readonly invocation_id: string;
  readonly key: string;
  readonly step: number | null;
  readonly outcome: Receipt['outcome'];
  readonly started_at: string;
  readonly finished_at: string;
  readonly children: readonly TraceNode[];
}

/**
 * The calls of a trace as trees. One whose parent is not among them stands at the top: its parent still runs, is not
 * for the reader to see, or lost its receipt, and what it made must not be lost with it.
 */
export function toTraceTree(receipts: readonly Receipt[]): readonly TraceNode[] {
  const known = new Set(receipts.map(({ id }) => id));
  const children = new Map<string | null, Receipt[]>();
  for (const receipt of receipts) {
    const parent = receipt.parent !== null && known.has(receipt.parent) ? receipt.parent : null;
    const siblings = children.get(parent);
    if (siblings === undefined) children.set(parent, [receipt]);
    else siblings.push(receipt);
  }
  return toNodes(children, null);
}

const toNodes = (children: ReadonlyMap<string | null, readonly Receipt[]>, parent: string | null): TraceNode[] =>
  (children.get(parent) ?? []).map(({ id, key, step, outcome, started_at, finished_at }) => ({
    invocation_id: id,
    key,
    step,
    outcome,
    started_at,
    finished_at,
    children: toNodes(children, id),
  }));
