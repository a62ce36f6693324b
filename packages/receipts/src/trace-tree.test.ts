import type { Receipt } from '@rowcall/protocol';
import { describe, expect, it } from 'vitest';
import { buildReceipt } from './build.js';
import { toTraceTree } from './trace-tree.js';

const made = buildReceipt(
  {
    id: 'inv_0',
    trace: 't_0',
    parent: null,
    step: null,
    key: 'ECHO',
    input: { body: '' },
    actor: 'owner',
    startedAt: 0,
    onBehalfOf: null,
    reason: null,
    traceparent: null,
    replayOf: null,
    repairs: null,
    askId: null,
  },
  { row: null, lane: null, finishedAt: 0, outcome: 'succeeded' },
  { text: (text) => text, json: (value) => value },
);
const make = (receipt: Partial<Receipt>): Receipt => ({ ...made.receipt, ...receipt });

const spent = (tokens_out: number, usd: number) => ({ tokens_in: 0, tokens_out, tokens_cached: 0, usd });

describe('the tree of a trace', () => {
  it('adds what calls spent up to the calls that made them', () => {
    const tree = toTraceTree([
      make({ id: 'inv_root', tokens_out: 1, cost_usd: 0.1 }),
      make({ id: 'inv_a', parent: 'inv_root', step: 1, tokens_out: 10, cost_usd: 0.2 }),
      make({ id: 'inv_b', parent: 'inv_root', step: 2 }),
      make({ id: 'inv_c', parent: 'inv_b', tokens_out: 100, cost_usd: 0.000001 }),
    ]);
    expect(tree).toMatchObject([
      {
        invocation_id: 'inv_root',
        cost: spent(1, 0.1),
        total: spent(111, 0.300001),
        children: [
          { invocation_id: 'inv_a', step: 1, cost: spent(10, 0.2), total: spent(10, 0.2), children: [] },
          {
            invocation_id: 'inv_b',
            cost: spent(0, 0),
            total: spent(100, 0.000001),
            children: [{ invocation_id: 'inv_c' }],
          },
        ],
      },
    ]);
  });

  it('begins with a call whose maker has no receipt yet', () => {
    const tree = toTraceTree([make({ id: 'inv_a', parent: 'inv_under_way' }), make({ id: 'inv_b', parent: 'inv_a' })]);
    expect(tree).toMatchObject([{ invocation_id: 'inv_a', children: [{ invocation_id: 'inv_b' }] }]);
  });
});
