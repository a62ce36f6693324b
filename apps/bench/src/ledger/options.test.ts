import { describe, expect, it } from 'vitest';
import { parseLedgerOptions } from './options.js';

describe('the options of a ledger run', () => {
  it('fill ten million receipts unless told otherwise', () => {
    expect(parseLedgerOptions([])).toMatchObject({ receipts: 10_000_000, connections: [16, 64], durationMs: 5_000 });
    expect(parseLedgerOptions(['--receipts', '20000', '--connections', '1']).receipts).toBe(20_000);
  });

  it('say what does not fit', () => {
    expect(() => parseLedgerOptions(['--receipts', '5'])).toThrow(/--receipts 5/);
    expect(() => parseLedgerOptions(['--requests', 'many'])).toThrow(/--requests many/);
  });
});
