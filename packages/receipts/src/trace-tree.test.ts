import type { Receipt } from '@rowcall/protocol';
import { describe, expect, it } from 'vitest';
import { toTraceTree } from './trace-tree.js';

const makeReceipt = (id: string, parent: string | null): Receipt =>
  ({
    id,
    parent,
    key: id.toUpperCase(),
    step: null,
    outcome: 'succeeded',
    started_at: 's',
    finished_at: 'f',
  }) as Receipt;
const idsOf = (nodes: ReturnType<typeof toTraceTree>): unknown[] =>
  nodes.map(({ invocation_id, children }) => [invocation_id, ...idsOf(children)]);

describe('a trace', () => {
  it('is a tree, in the order of its calls', () => {
    const receipts = [makeReceipt('a', null), makeReceipt('b', 'a'), makeReceipt('c', 'b'), makeReceipt('d', 'a')];
    expect(idsOf(toTraceTree(receipts))).toEqual([['a', ['b', ['c']], ['d']]]);
  });

  it('shows a call whose parent has no receipt yet', () => {
    expect(idsOf(toTraceTree([makeReceipt('b', 'running'), makeReceipt('c', 'b')]))).toEqual([['b', ['c']]]);
  });

  it('of no calls is empty', () => {
    expect(toTraceTree([])).toEqual([]);
  });
});
