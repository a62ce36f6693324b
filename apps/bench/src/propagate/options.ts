import { parseArgs } from 'node:util';
import { toWholeNumber } from '../whole-number.js';

/** What a propagate run is told. */
export interface PropagateOptions {
  readonly databaseUrl: string | undefined;
  readonly rows: number;
  readonly changes: number;
  readonly jsonFile: string | undefined;
  readonly check: boolean;
}

/** What `--help` says. */
export const PROPAGATE_HELP = `pnpm bench propagate [options]
  --database-url URL   a database made for this run: its rows stay in it; default: a durable one of its own
  --rows 10000         rows that are loaded first
  --changes 500        changes that are measured, once quiet and once with 50 other changes per second
  --json FILE          writes every figure
  --check              exit code 1 when a goal is missed`;

const ROWS_MIN = 100;
const COUNT_MAX = 1_000_000;

/** Reads the command line. @throws Error that names what does not fit. */
export function parsePropagateOptions(args: readonly string[]): PropagateOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      'database-url': { type: 'string' },
      rows: { type: 'string', default: '10000' },
      changes: { type: 'string', default: '500' },
      json: { type: 'string' },
      check: { type: 'boolean', default: false },
    },
  });
  return {
    databaseUrl: values['database-url'],
    rows: toWholeNumber('rows', values.rows, { min: ROWS_MIN, max: COUNT_MAX }),
    changes: toWholeNumber('changes', values.changes, { min: 1, max: COUNT_MAX }),
    jsonFile: values.json,
    check: values.check,
  };
}
