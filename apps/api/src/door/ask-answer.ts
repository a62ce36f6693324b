import type { Entry } from '@rowcall/catalogue';
import type { Contract } from '@rowcall/contract';
import type { Hit, Ranking } from '@rowcall/resolver';
import type { DoorContext } from '../context.js';
import { contractOf } from './contract.js';
import { toContractUrl } from './descriptor.js';
import { type Asker, toRunNow } from './run-now.js';
import { estimateTokens } from './token-estimate.js';

/** A hit with its row. */
export interface Candidate {
  readonly hit: Hit;
  readonly entry: Entry;
}

/** How an ask is to be answered. */
export interface AnswerOptions extends Asker {
  /** Whether the best row's contract comes along. */
  readonly contract: boolean;
  /** Whether the parts of each score come along. */
  readonly explain: boolean;
}

/** What rows were asked for. */
interface AskedFor {
  readonly category?: string | undefined;
}

/**
 * What an answer may cost, in estimated tokens, so that it stays under 600 in fact: with what is asked for beyond the
 * contract of a row without a schema, under 1,200.
 */
const TOKENS_MAX = 530;
const TOKENS_MAX_LARGE = 1_050;
/** What the fixed members of an answer take. */
const ENVELOPE_TOKENS = 70;

/**
 * Characters of a description: of the first few rows, and of the others. The first pair that leaves room for all is taken,
 * from what is best to read to none.
 */
const WHAT_LENGTHS = [
  [120, 120],
  [100, 60],
  [80, 30],
  [80, 0],
  [50, 0],
  [30, 0],
  [0, 0],
] as const;
const FIRST_FEW = 4;
const CATEGORIES_MAX = 30;
/** What the categories, and the steps, may cost: their names and the words of the question may be anything. */
const CATEGORIES_TOKENS_MAX = 240;
const STEPS_TOKENS_MAX = 500;
/** An example that costs more is left to the contract. */
const CALL_TOKENS_MAX = 150;
const STEP_KEYS = 2;
/** Characters of a clause that are said back, the most first. */
const CLAUSE_LENGTHS = [80, 40, 15];

const costOf = (value: unknown): number => estimateTokens(JSON.stringify(value) ?? '');
const cut = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, Math.max(0, length - 1)).toWellFormed()}…`;

/**
 * What of a contract stands in an answer, to make the call by: its example is `send`, what is the same for every row is in the
 * manifest, and what pins it is in the contract itself.
 */
type InlinedContract = Pick<Contract, 'key' | 'effect' | 'risk'> & {
  what: string;
  when_to_use?: string;
  arguments?: Contract['arguments'] | Pick<Contract['arguments'], 'positions'>;
  /** Where the rest stands, when it was too much. */
  more?: string;
};

/** The members that follow from what was found, within their budget. */
export function toAskAnswer(
  context: DoorContext,
  ranking: Ranking,
  candidates: readonly Candidate[],
  options: AnswerOptions & AskedFor & { readonly askId: string; readonly echo: string },
) {
  const [first] = candidates;
  const best = ranking.fits && first !== undefined ? first.entry : null;
  const isLarge = options.explain || best?.hasInputSchema === true || ranking.steps.length > 0;
  let left = (isLarge ? TOKENS_MAX_LARGE : TOKENS_MAX) - ENVELOPE_TOKENS - costOf(options.echo);
  const spend = <T>(value: T): T => {
    left -= costOf(value);
    return value;
  };
  const nothing =
    best === null ? spend({ message: nothingFits(context, candidates, options), ...categoriesOf(context) }) : {};
  const steps = spend(toSteps(ranking));
  // The contract of the best row comes before the last of many matches.
  const shortest = costOf(toMatches(candidates.slice(0, FIRST_FEW), WHAT_LENGTHS[4], options));
  const answer = best === null ? null : spend(toBest(context, best, options, left - shortest));
  const matches = fitMatches(candidates, options, left);
  return { best: answer, ...nothing, ...steps, matches };
}

function toBest(
  context: DoorContext,
  entry: Entry,
  options: AnswerOptions & { readonly askId: string },
  tokens: number,
) {
  const contract = contractOf(context, entry);
  const { key, example, call } = contract;
  const { reader, share, askId } = options;
  const calls = [example, call.body].filter((call) => call !== null);
  const shown = calls.find((call) => costOf(call) <= CALL_TOKENS_MAX);
  const runNow = shown === example ? toRunNow(context, entry, { example, reader, share, askId }) : {};
  const ready = { key, send: { ...(shown ?? { key }), ask_id: askId }, ...runNow };
  if (!options.contract) return ready;
  return { ...ready, contract: fitContract(contract, toContractUrl(context.baseUrl(), key), tokens - costOf(ready)) };
}

/** The contract, or of one that costs too much what matters most, and where the rest is. */
function fitContract(contract: Contract, url: string, tokens: number): InlinedContract {
  const {
    key,
    what,
    when_to_use,
    arguments: { positions, schema },
    effect,
    risk,
  } = contract;
  const rest = { effect, risk };
  const whole = schema === undefined ? { positions } : { positions, schema };
  const forms: InlinedContract[] = [
    { key, what, ...(when_to_use === '' ? {} : { when_to_use }), arguments: whole, ...rest },
    { key, what, arguments: whole, ...rest, more: url },
    { key, what: cut(what, 300), arguments: { positions }, ...rest, more: url },
    {
      key,
      what: cut(what, 100),
      arguments: { positions: positions.slice(0, 8).map(({ position, name }) => ({ position, name })) },
      ...rest,
      more: url,
    },
  ];
  return forms.find((form) => costOf(form) <= tokens) ?? { key, what: cut(what, 50), ...rest, more: url };
}

const toMatches = (
  candidates: readonly Candidate[],
  [ofFirst, ofOthers]: readonly [number, number],
  { explain }: Pick<AnswerOptions, 'explain'>,
) =>
  candidates.map(({ hit, entry }, place) => {
    const length = place < FIRST_FEW ? ofFirst : ofOthers;
    return {
      key: hit.key,
      ...(length === 0 ? {} : { what: cut(entry.doc.what.replace(/\s+/g, ' '), length) }),
      effect: entry.effect,
      score: Math.round(hit.score * 100) / 100,
      ...(hit.lifted === null ? {} : { lifted: hit.lifted }),
      ...(explain ? { why: toWhy(hit) } : {}),
    };
  });

const toWhy = ({ parts }: Hit) =>
  Object.fromEntries(Object.entries(parts).map(([part, value]) => [part, Math.round(value * 1_000) / 1_000]));

/** The candidates, described at such a length that all have room; of long keys fewer. */
function fitMatches(candidates: readonly Candidate[], options: AnswerOptions, tokens: number) {
  for (const lengths of WHAT_LENGTHS) {
    const matches = toMatches(candidates, lengths, options);
    if (costOf(matches) <= tokens) return matches;
  }
  const matches = toMatches(candidates, [0, 0], { explain: false });
  while (matches.length > 1 && costOf(matches) > tokens) matches.pop();
  return matches;
}

function toSteps({ steps }: Ranking) {
  if (steps.length === 0) return {};
  const toForm = (length: number) => ({
    steps: steps.map(({ clause, keys }) => ({ for: cut(clause, length), keys: keys.slice(0, STEP_KEYS) })),
  });
  const forms = CLAUSE_LENGTHS.map(toForm);
  return forms.find((form) => costOf(form) <= STEPS_TOKENS_MAX) ?? toForm(0);
}

function nothingFits({ catalogue }: DoorContext, candidates: readonly Candidate[], { category }: AskedFor): string {
  if (category !== undefined && !catalogue.categories.has(category)) {
    return `there is no category ${JSON.stringify(cut(category, 40))}; the categories are below`;
  }
  const nearest = candidates.slice(0, 3).map(({ entry }) => entry.row.key);
  const end = nearest.length === 0 ? 'browse with ?map=1' : `the nearest are ${nearest.join(', ')}`;
  return `nothing here does that; ${end}`;
}

/** The largest categories, for one who has to browse. */
function categoriesOf({ catalogue }: DoorContext) {
  const categories = [...catalogue.categories].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  const largest = categories.slice(0, CATEGORIES_MAX).map(([name, rows]) => [cut(name, 40) || '(none)', rows] as const);
  while (costOf(largest) > CATEGORIES_TOKENS_MAX) largest.pop();
  return { categories: Object.fromEntries(largest) };
}
