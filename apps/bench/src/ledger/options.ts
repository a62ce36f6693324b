import { parseArgs } from 'node:util';
import { toWholeNumber } from '../whole-number.js';

/** What a ledger run is told. */
export interface LedgerOptions {
  readonly receipts: number;
  readonly connections: readonly number[];
  readonly rounds: number;
  readonly requests: number;
  readonly durationMs: number;
  readonly jsonFile: string | undefined;
  readonly check: boolean;
}

/** What `--help` says. */
export const LEDGER_HELP = `pnpm bench ledger [options]
  Fills a ledger with receipts of a year and asks an API process about them, one question at a time; then compares calls
  on that ledger with calls on an empty one. Both databases are durable ones of the run's own, below the folder for
  temporary files (TMPDIR): ten million receipts take 12 GB there, and a quarter of an hour to load.
  --receipts 10000000  how many there are
  --rounds 3           how often everything is measured, in turns
  --requests 300       of each question in each round
  --connections 16,64  of the calls
  --seconds 5          how long calls are made each time
  --json FILE          writes every figure
  --check              exit code 1 when a goal is missed`;

/** Reads the command line. @throws Error that names what does not fit. */
export function parseLedgerOptions(args: readonly string[]): LedgerOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      receipts: { type: 'string', default: '10000000' },
      rounds: { type: 'string', default: '3' },
      requests: { type: 'string', default: '300' },
      connections: { type: 'string', default: '16,64' },
      seconds: { type: 'string', default: '5' },
      json: { type: 'string' },
      check: { type: 'boolean', default: false },
    },
  });
  return {
    receipts: toWholeNumber('receipts', values.receipts, { min: 10_000, max: 1_000_000_000 }),
    rounds: toWholeNumber('rounds', values.rounds, { min: 1, max: 100 }),
    requests: toWholeNumber('requests', values.requests, { min: 20, max: 100_000 }),
    connections: values.connections
      .split(',')
      .map((text) => toWholeNumber('connections', text, { min: 1, max: 1_000 })),
    durationMs: toWholeNumber('seconds', values.seconds, { min: 1, max: 600 }) * 1_000,
    jsonFile: values.json,
    check: values.check,
  };
}
