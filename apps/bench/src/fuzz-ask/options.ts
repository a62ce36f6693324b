import { parseArgs } from 'node:util';
import { toWholeNumber } from '../whole-number.js';

/** What a fuzz-ask run is told. */
export interface FuzzAskOptions {
  readonly questions: number;
  readonly rows: number;
  readonly seed: number;
  readonly jsonFile: string | undefined;
  readonly check: boolean;
}

/** What `--help` says. */
export const FUZZ_ASK_HELP = `pnpm bench fuzz-ask [options]
  Hostile questions to the resolver in this process: megabytes, all planes of Unicode, thousands of clauses, what makes
  patterns run away. None may throw; how long they take is measured.
  --questions 100000   how many
  --rows 10000         rows that are searched
  --seed 1             of the questions
  --json FILE          writes every figure
  --check              exit code 1 when a goal is missed`;

/** Reads the command line. @throws Error that names what does not fit. */
export function parseFuzzAskOptions(args: readonly string[]): FuzzAskOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      questions: { type: 'string', default: '100000' },
      rows: { type: 'string', default: '10000' },
      seed: { type: 'string', default: '1' },
      json: { type: 'string' },
      check: { type: 'boolean', default: false },
    },
  });
  return {
    questions: toWholeNumber('questions', values.questions, { min: 100, max: 100_000_000 }),
    rows: toWholeNumber('rows', values.rows, { min: 1, max: 1_000_000 }),
    seed: toWholeNumber('seed', values.seed, { min: 0, max: 2 ** 31 - 1 }),
    jsonFile: values.json,
    check: values.check,
  };
}
