import { parseArgs } from 'node:util';
import { toWholeNumber } from '../whole-number.js';

/** What an import run is told. */
export interface ImportOptions {
  readonly databaseUrl: string | undefined;
  readonly rows: number;
  readonly rounds: number;
  readonly jsonFile: string | undefined;
  readonly check: boolean;
}

/** What `--help` says. */
export const IMPORT_HELP = `pnpm bench import [options]
  Rows come as NDJSON over POST /api/directory:import of process A while process B runs beside it; one line in the
  middle is bad. Resident memory is read every 100 ms; it takes in what V8 has not given back yet.
  --database-url URL   a database made for this run: its rows stay in it; default: a durable one of its own
  --rows 100000        half of them with an input_schema of their own
  --rounds 1           how often, each time with a new database and new processes
  --json FILE          writes every figure
  --check              exit code 1 when a goal is missed`;

/** Reads the command line. @throws Error that names what does not fit. */
export function parseImportOptions(args: readonly string[]): ImportOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      'database-url': { type: 'string' },
      rows: { type: 'string', default: '100000' },
      rounds: { type: 'string', default: '1' },
      json: { type: 'string' },
      check: { type: 'boolean', default: false },
    },
  });
  const rounds = toWholeNumber('rounds', values.rounds, { min: 1, max: 100 });
  const databaseUrl = values['database-url'];
  if (databaseUrl !== undefined && rounds > 1) throw new Error('--rounds: a database that is given takes one round');
  return {
    databaseUrl,
    rows: toWholeNumber('rows', values.rows, { min: 100, max: 1_000_000 }),
    rounds,
    jsonFile: values.json,
    check: values.check,
  };
}
