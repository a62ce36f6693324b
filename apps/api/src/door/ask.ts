import type { Entry } from '@rowcall/catalogue';
import type { Hit } from '@rowcall/resolver';
import { ANYONE } from '@rowcall/store';
import type { DoorContext } from '../context.js';
import { contractOf, staleness } from './contract.js';
import { toDescriptor } from './descriptor.js';
import { type Asker, toRunNow } from './run-now.js';

/** Candidates of one answer. */
const MATCHES_MAX = 12;
/** A best hit that holds a smaller share of the question's words does not answer it. */
const COVERAGE_MIN = 0.25;

interface Candidate {
  readonly hit: Hit;
  readonly entry: Entry;
}

/** Answers a question in plain language: the best row with its contract and the call ready to send, and the ranked candidates. */
export function ask(context: DoorContext, question: string, asker: Asker = {}) {
  const candidates = findCandidates(context, question);
  const [first] = candidates;
  const best = first !== undefined && first.hit.coverage >= COVERAGE_MIN ? first : undefined;
  const confidence = toConfidence(candidates);
  const askId = context.asks.record({
    question,
    keys: candidates.map(({ hit }) => hit.key),
    best: best?.hit.key ?? null,
    confidence,
    category: best?.entry.row.category ?? null,
    actor: asker.reader?.actor ?? ANYONE,
    address: asker.network,
  });
  return {
    ask: question.slice(0, 500),
    ask_id: askId,
    best: best === undefined ? null : toBest(context, best, asker),
    ...(best === undefined ? { message: nothingFits(candidates) } : {}),
    confidence,
    matches: candidates.map(({ hit, entry }) => ({
      ...toDescriptor(entry, context.baseUrl()),
      score: round(hit.score),
      coverage: round(hit.coverage),
      ...(hit.lifted === null ? {} : { lifted: hit.lifted }),
    })),
    ...staleness(context),
  };
}

function findCandidates({ catalogue }: DoorContext, question: string): Candidate[] {
  return catalogue.search(question, { limit: MATCHES_MAX }).flatMap((hit) => {
    const entry = catalogue.find(hit.key);
    return entry === undefined ? [] : [{ hit, entry }];
  });
}

function toBest(context: DoorContext, { entry }: Candidate, asker: Asker) {
  const contract = contractOf(context, entry);
  const send = contract.example ?? contract.call.body;
  return { key: entry.row.key, contract, send, ...toRunNow(context, entry, { example: contract.example, ...asker }) };
}

function nothingFits(candidates: readonly Candidate[]): string {
  const nearest = candidates.slice(0, 3).map(({ entry }) => entry.row.key);
  const end = nearest.length === 0 ? 'browse with ?map=1' : `the nearest are ${nearest.join(', ')}`;
  return `nothing here does that; ${end}`;
}

/** How sure the first place is, 0 to 1: how much of the question it holds, and how far the second is behind. */
function toConfidence([first, second]: readonly Candidate[]): number {
  if (first === undefined) return 0;
  if (first.hit.lifted !== null) return 1;
  const margin = second === undefined ? 1 : 1 - second.hit.score / first.hit.score;
  return round(first.hit.coverage * (0.6 + 0.4 * Math.max(0, margin)));
}

const round = (value: number): number => Math.round(value * 1_000) / 1_000;
