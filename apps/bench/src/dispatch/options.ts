import { parseArgs } from 'node:util';
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
    connections: values.connections.split(',').map((text) => toPositive('connections', text, 1_000)),
    modes: values.modes.split(',').map(toModeName),
    rounds: toPositive('rounds', values.rounds, 100),
    durationMs: toPositive('seconds', values.seconds, 600) * 1_000,
    jsonFile: values.json,
    profileDir: values.profile,
    check: values.check,
  };
}

function toPositive(name: string, text: string, max: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw new Error(`--${name} ${text}: give whole numbers from 1 to ${max}`);
}

function toModeName(text: string): ModeName {
  const name = MODE_NAMES.find((mode) => mode === text);
  if (name === undefined) throw new Error(`--modes ${text}: the modes are ${MODE_NAMES.join(', ')}`);
  return name;
}
