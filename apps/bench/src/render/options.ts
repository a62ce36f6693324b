import { parseArgs } from 'node:util';
import { toWholeNumber } from '../whole-number.js';

/** What a render run is told. */
export interface RenderOptions {
  readonly rounds: number;
  /** Of one engine and one shape in one round. */
  readonly durationMs: number;
  readonly jsonFile: string | undefined;
  readonly check: boolean;
}

/** What `--help` says. */
export const RENDER_HELP = `pnpm bench render [options]
  Templates of http rows rendered by packages/substitution, which holds the structure of URL, headers and body whatever
  the arguments are, and the same text by mustache and handlebars, which put arguments in as they are. All parse once.
  The others have the whole request as one template, their fastest way; that requests mean the same is verified.
  --rounds 5           how often each is measured, in turns
  --ms 300             how long each time
  --json FILE          writes every figure
  --check              exit code 1 when a goal is missed; none is set for this bench`;

/** Reads the command line. @throws Error that names what does not fit. */
export function parseRenderOptions(args: readonly string[]): RenderOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string', default: '5' },
      ms: { type: 'string', default: '300' },
      json: { type: 'string' },
      check: { type: 'boolean', default: false },
    },
  });
  return {
    rounds: toWholeNumber('rounds', values.rounds, { min: 1, max: 100 }),
    durationMs: toWholeNumber('ms', values.ms, { min: 1, max: 60_000 }),
    jsonFile: values.json,
    check: values.check,
  };
}
