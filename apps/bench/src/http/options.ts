import { parseArgs } from 'node:util';
import { toWholeNumber } from '../whole-number.js';

/** What an http run is told. */
export interface HttpOptions {
  readonly databaseUrl: string | undefined;
  /** Of the closed loops. */
  readonly connections: readonly number[];
  /** Calls per second of the load that keeps a pace; undefined for none. */
  readonly ratePerSecond: number | undefined;
  readonly rounds: number;
  readonly durationMs: number;
  readonly jsonFile: string | undefined;
  /** Folder for a CPU profile of the API. */
  readonly profileDir: string | undefined;
  readonly check: boolean;
}

/** Connections at which the goals are set, and which the load by a pace has at the most. */
export const GOAL_CONNECTIONS = 16;

/** What `--help` says. */
export const HTTP_HELP = `pnpm bench http [options]
  What an http row adds to a request: the same program calls the upstream itself, and through POST /api/dispatch with a
  committed receipt. Both through undici; the upstream gets the same request. Added = p50 (p99) through the row minus
  p50 (p99) without, within a round. Beside it: what a request takes that a framework answers after one durable INSERT
  of the size of a receipt (the floor), and by how much the same thing measured twice differs (the noise).
  A closed loop (each answer sends the next request) of many keeps all cores busy: its latency is connections / rate, so
  that what is added is the difference of two rates. By a pace, calls come by chance (Poisson) at the same times for
  both, and latency is what one caller waits on a machine that has time.
  --database-url URL   a database made for this run: row and receipts stay in it; default: a durable one of its own
  --connections 1,16,64   closed loops
  --rate 200           calls per second by a pace, over ${GOAL_CONNECTIONS} connections at the most; 0 for none
  --rounds 3           how often each load is measured, in turns
  --seconds 5          how long each time
  --json FILE          writes every figure
  --profile DIR        has the API write a CPU profile there, and sums it up
  --check              exit code 1 when a goal is missed`;

/** Reads the command line. @throws Error that names what does not fit. */
export function parseHttpOptions(args: readonly string[]): HttpOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      'database-url': { type: 'string' },
      connections: { type: 'string', default: '1,16,64' },
      rate: { type: 'string', default: '200' },
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '5' },
      json: { type: 'string' },
      profile: { type: 'string' },
      check: { type: 'boolean', default: false },
    },
  });
  const rate = toWholeNumber('rate', values.rate, { min: 0, max: 10_000 });
  return {
    databaseUrl: values['database-url'],
    connections: values.connections
      .split(',')
      .map((text) => toWholeNumber('connections', text, { min: 1, max: 1_000 })),
    ratePerSecond: rate === 0 ? undefined : rate,
    rounds: toWholeNumber('rounds', values.rounds, { min: 1, max: 100 }),
    durationMs: toWholeNumber('seconds', values.seconds, { min: 1, max: 600 }) * 1_000,
    jsonFile: values.json,
    profileDir: values.profile,
    check: values.check,
  };
}
