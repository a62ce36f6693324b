import { parseArgs } from 'node:util';
import { toWholeNumber } from '../whole-number.js';

/** What an ask run is told. */
export interface AskOptions {
  /** Sizes of catalogues that are measured, one after the other. */
  readonly rows: readonly number[];
  readonly connections: readonly number[];
  /** Of each kind at each size. */
  readonly requests: number;
  readonly changesPerSecond: number;
  readonly seed: number;
  readonly jsonFile: string | undefined;
  readonly check: boolean;
}

/** What `--help` says. */
export const ASK_HELP = `pnpm bench ask [options]
  How long a question takes, over HTTP and in the engine alone, while rows are being changed through the API.
  --rows 1000,10000,100000  sizes of the catalogue, each with a database of its own
  --connections 1,16   questions at once over HTTP
  --requests 2000      questions of each kind at each size
  --changes 50         changes of rows per second meanwhile
  --seed 1             of the questions
  --json FILE          writes every figure
  --check              exit code 1 when a goal is missed`;

/** Reads the command line. @throws Error that names what does not fit. */
export function parseAskOptions(args: readonly string[]): AskOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rows: { type: 'string', default: '1000,10000,100000' },
      connections: { type: 'string', default: '1,16' },
      requests: { type: 'string', default: '2000' },
      changes: { type: 'string', default: '50' },
      seed: { type: 'string', default: '1' },
      json: { type: 'string' },
      check: { type: 'boolean', default: false },
    },
  });
  const list = (name: 'rows' | 'connections', limits: { min: number; max: number }) =>
    values[name].split(',').map((text) => toWholeNumber(name, text, limits));
  return {
    rows: list('rows', { min: 100, max: 1_000_000 }),
    connections: list('connections', { min: 1, max: 1_000 }),
    requests: toWholeNumber('requests', values.requests, { min: 100, max: 1_000_000 }),
    changesPerSecond: toWholeNumber('changes', values.changes, { min: 1, max: 1_000 }),
    seed: toWholeNumber('seed', values.seed, { min: 0, max: 2 ** 31 - 1 }),
    jsonFile: values.json,
    check: values.check,
  };
}
