import { parseArgs } from 'node:util';
import { toWholeNumber } from '../whole-number.js';
import { MODE_NAMES, type ModeName } from './modes.js';

/** What a dispatch run is told. */
export interface DispatchOptions {
  readonly databaseUrl: string | undefined;
  readonly modes: readonly ModeName[];
  readonly connections: readonly number[];
  readonly rounds: number;
  readonly durationMs: number;
  readonly jsonFile: string | undefined;
  /** Folder for a CPU profile of the API. */
  readonly profileDir: string | undefined;
  readonly check: boolean;
}

/** What `--help` says. */
export const DISPATCH_HELP = `pnpm bench dispatch [options]
  --database-url URL   a database made for this run: receipts stay in it; default: a durable one of its own
  --connections 1,16,64
  --modes ${MODE_NAMES.join(',')}
  --rounds 3           how often each mode is measured, in turns
  --seconds 5          how long each time
  --json FILE          writes every figure
  --profile DIR        has the API write a CPU profile there, and sums it up
  --check              exit code 1 when a goal is missed`;

/** Reads the command line. @throws Error that names what does not fit. */
export function parseDispatchOptions(args: readonly string[]): DispatchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      'database-url': { type: 'string' },
      connections: { type: 'string', default: '1,16,64' },
      modes: { type: 'string', default: MODE_NAMES.join(',') },
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '5' },
      json: { type: 'string' },
      profile: { type: 'string' },
      check: { type: 'boolean', default: false },
    },
  });
  return {
    databaseUrl: values['database-url'],
    connections: values.connections
      .split(',')
      .map((text) => toWholeNumber('connections', text, { min: 1, max: 1_000 })),
    modes: values.modes.split(',').map(toModeName),
    rounds: toWholeNumber('rounds', values.rounds, { min: 1, max: 100 }),
    durationMs: toWholeNumber('seconds', values.seconds, { min: 1, max: 600 }) * 1_000,
    jsonFile: values.json,
    profileDir: values.profile,
    check: values.check,
  };
}

function toModeName(text: string): ModeName {
  const name = MODE_NAMES.find((mode) => mode === text);
  if (name === undefined) throw new Error(`--modes ${text}: the modes are ${MODE_NAMES.join(', ')}`);
  return name;
}
