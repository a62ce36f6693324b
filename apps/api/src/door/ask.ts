import type { Entry } from '@rowcall/catalogue';
import type { EmbeddedQuestion } from '@rowcall/embeddings';
import type { Effect, RowType } from '@rowcall/protocol';
import { QUESTION_LENGTH_MAX, type Ranking } from '@rowcall/resolver';
import { ANYONE } from '@rowcall/store';
import type { DoorContext } from '../context.js';
import { type AnswerOptions, type Candidate, toAskAnswer } from './ask-answer.js';
import { staleness } from './contract.js';

/** Candidates of one answer. */
const MATCHES_MAX = 12;
/** How long, in ms, an answer waits for the vector of its question. */
const EMBEDDING_BUDGET_MS = 50;
/** Characters of the question that are said back. */
const ECHO_LENGTH_MAX = 120;

/** Which rows are asked for. */
export interface RowFilter {
  readonly category?: string | undefined;
  readonly type?: RowType | undefined;
  readonly effect?: Effect | undefined;
}

/**
 * Answers a question in plain language: the best row with its contract and the call ready to send, and the ranked
 * candidates; of a question that needs several rows those of each step; `best: null` when nothing fits. At most 600 tokens
 * (o200k_base), or 1,200 with a schema, steps or explanations.
 */
export async function ask(context: DoorContext, question: string, options: AnswerOptions & RowFilter) {
  const { state, vector } = await embedQuestion(context, question, options);
  const started = performance.now();
  const ranking = context.catalogue.search(question, {
    limit: MATCHES_MAX,
    filter: toFilter(context, options),
    embedding: vector,
  });
  const candidates = toCandidates(context, ranking);
  const engineMs = performance.now() - started;
  const confidence = Math.round(ranking.confidence * 1_000) / 1_000;
  const askId = recordAsk(context, question, { ranking, candidates, confidence, options });
  const echo = question.slice(0, ECHO_LENGTH_MAX).toWellFormed();
  const document = {
    ask: echo,
    ask_id: askId,
    confidence,
    ...toAskAnswer(context, ranking, candidates, { ...options, askId, echo }),
    ranking: state === 'off' ? 'lexical' : state,
    ...(question.length > QUESTION_LENGTH_MAX ? { read: `the first ${QUESTION_LENGTH_MAX} characters` } : {}),
    ...staleness(context),
  };
  return { document, engineMs };
}

/** The vector of a question, for those who may have one computed. */
async function embedQuestion(
  { embedder, embeddingLimits }: DoorContext,
  question: string,
  { reader, network }: AnswerOptions,
): Promise<EmbeddedQuestion> {
  const isOver = embeddingLimits?.admit({ actor: reader?.actor ?? ANYONE, address: network }) === false;
  return isOver ? { state: 'embedding_late' } : embedder.embedQuestion(question, EMBEDDING_BUDGET_MS);
}

function toFilter({ catalogue }: DoorContext, { category, type, effect }: RowFilter) {
  if (category === undefined && type === undefined && effect === undefined) return undefined;
  const fits = ({ row, effect: has }: Entry): boolean =>
    (category === undefined || row.category === category) &&
    (type === undefined || row.type === type) &&
    (effect === undefined || has === effect);
  return (key: string): boolean => {
    const entry = catalogue.find(key);
    return entry !== undefined && fits(entry);
  };
}

function toCandidates({ catalogue }: DoorContext, { hits }: Ranking): Candidate[] {
  return hits.flatMap((hit) => {
    const entry = catalogue.find(hit.key);
    return entry === undefined ? [] : [{ hit, entry }];
  });
}

/** What an ask came to. */
interface Asked {
  readonly ranking: Ranking;
  readonly candidates: readonly Candidate[];
  readonly confidence: number;
  readonly options: AnswerOptions;
}

function recordAsk(
  context: DoorContext,
  question: string,
  { ranking, candidates, confidence, options }: Asked,
): string {
  const best = ranking.fits ? candidates[0] : undefined;
  return context.asks.record({
    question,
    keys: candidates.map(({ hit }) => hit.key),
    best: best?.hit.key ?? null,
    confidence,
    category: best?.entry.row.category ?? null,
    actor: options.reader?.actor ?? ANYONE,
    address: options.network,
  });
}
