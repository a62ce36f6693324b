import { parseArgs } from 'node:util';
import { toWholeNumber } from '../whole-number.js';
import { HALVES, type Half } from './halves.js';
import { SYSTEM_NAMES, type SystemName } from './systems.js';

/** What a retrieval run is told. */
export interface RetrievalOptions {
  readonly dataDir: string;
  readonly systems: readonly SystemName[];
  readonly half: Half;
  readonly abstain: boolean;
  /** Of the chance by which questions lose their rows. */
  readonly seed: number;
  readonly rankingFile: string | undefined;
  readonly jsonFile: string | undefined;
  readonly check: boolean;
}

/** What `--help` says. */
export const RETRIEVAL_HELP = `pnpm bench retrieval --data DIR [options]
  How well labelled questions find their rows. DIR has tools.jsonl ({id, set, name, description, category, schema}) and
  queries.jsonl ({id, set, query, relevant: [ids]}). All tools together are one catalogue, searched in this process.
  --system NAME        ${SYSTEM_NAMES.join(', ')}; default: all
  --half all           a, b: half of the questions, by a hash of their ids: tune on one, report the other
  --abstain            takes the rows of half the questions away and tells how well confidence knows which
  --seed 1             of the chance that chooses those questions
  --write-ranking FILE JSONL {query_id, ranked}; with one system
  --json FILE          writes every figure
  --check              exit code 1 when a goal is missed`;

const SEED_MAX = 2 ** 31 - 1;

/** Reads the command line. @throws Error that names what does not fit. */
export function parseRetrievalOptions(args: readonly string[]): RetrievalOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      data: { type: 'string' },
      system: { type: 'string' },
      half: { type: 'string', default: 'all' },
      abstain: { type: 'boolean', default: false },
      seed: { type: 'string', default: '1' },
      'write-ranking': { type: 'string' },
      json: { type: 'string' },
      check: { type: 'boolean', default: false },
    },
  });
  if (values.data === undefined) throw new Error('--data: name the folder with tools.jsonl and queries.jsonl');
  const systems = values.system === undefined ? SYSTEM_NAMES : [oneOf('system', values.system, SYSTEM_NAMES)];
  const rankingFile = values['write-ranking'];
  if (rankingFile !== undefined && systems.length > 1)
    throw new Error('--write-ranking: say whose ranking with --system');
  if (rankingFile !== undefined && values.abstain)
    throw new Error('--write-ranking: the catalogue of --abstain lacks rows that are asked for');
  return {
    dataDir: values.data,
    systems,
    half: oneOf('half', values.half, HALVES),
    abstain: values.abstain,
    seed: toWholeNumber('seed', values.seed, { min: 0, max: SEED_MAX }),
    rankingFile,
    jsonFile: values.json,
    check: values.check,
  };
}

function oneOf<Name extends string>(option: string, text: string, names: readonly Name[]): Name {
  const found = names.find((name) => name === text);
  if (found === undefined) throw new Error(`--${option} ${text}: give one of ${names.join(', ')}`);
  return found;
}
