import { Best } from './best.js';
import { CONFIDENCE_MIN, toConfidence } from './confidence.js';
import { Embeddings } from './embeddings.js';
import { englishWords } from './english.js';
import { GrowingArray } from './growing-array.js';
import { InvertedIndex, type QueryTerm } from './inverted-index.js';
import { Learned, type LearnedPair } from './learned.js';
import { Marks } from './marks.js';
import { MatchTable } from './match-table.js';
import { Meanings } from './meanings.js';
import { QUESTION_LENGTH_MAX, toTextTerms } from './normalise.js';
import { stepsByScore } from './order.js';
import { Pins } from './pins.js';
import { parseQuestion, type Question } from './question.js';
import { type ScoreParts, Scorer } from './scorer.js';
import { ClauseRanking, findNeeds, findSteps, type RankedClause, type Step, toDistinction } from './steps.js';
import { findSynonyms } from './synonyms.js';
import { DEMOTION, FIELDS, LEARNED, MISSPELT, SYNONYM } from './weights.js';

/** What of a row is searched. */
export interface CapabilityDocument {
  readonly key: string;
  readonly category: string;
  readonly what: string;
  readonly whenToUse: string;
  /** Questions that it answers, in the words of those who ask. */
  readonly asks: string;
  readonly argumentNames: string;
  readonly argumentNotes: string;
  readonly examples: string;
  /** Lower first among equals. */
  readonly rank: number;
  /** Pushed down. */
  readonly demoted: boolean;
  /** Questions that must lead here. */
  readonly pinnedFor: readonly string[];
}

/** One row that fits a question. */
export interface Hit {
  readonly key: string;
  /** 0 to 1; of the same measure for every question. */
  readonly score: number;
  /** Why the row stands before all others whatever its score: pinned for the question, or named in it by its key. */
  readonly lifted: 'pin' | 'key' | null;
  /** What the score is made of, each 0 to 1 before its weight. */
  readonly parts: ScoreParts;
}

/** The answer to a question. */
export interface Ranking {
  /** Best first. */
  readonly hits: readonly Hit[];
  /** How probably the first hit is what was asked for, 0 to 1; 0 without one. */
  readonly confidence: number;
  /** Whether that is enough to answer with it. */
  readonly fits: boolean;
  /** What a question that needs several rows asks for, in its order; empty for one that needs one. */
  readonly steps: readonly Step[];
}

/** How a search is narrowed. */
export interface SearchOptions {
  /** Hits at the most. */
  readonly limit: number;
  /** Rows that may appear; applied inside the search, so that `limit` hits remain. */
  readonly filter?: ((key: string) => boolean) | undefined;
  /** The question's vector from the service that made those of the rows, of unit length. */
  readonly embedding?: Float32Array | undefined;
}

/** Rows that are scored in full: those that share the weightiest words with the question. */
const CANDIDATES_MAX = 1_000;
/** In so small a catalogue rows that share no word with the question are looked at, too. */
const SMALL = 3_000;
/** Words of a question that are looked up as misspelt. */
const MISSPELT_MAX = 8;
/** A row that shares no word with the question must be so near in meaning, or it is noise. */
const MEANING_MIN = 0.3;
/** A row whose score is a smaller share of the best one's is noise. */
const TAIL_MIN = 0.2;
/** An exact key in the question outranks any text; a pin outranks that. */
const TIERS = { pin: 2, key: 1 } as const;

/** A row that is scored. */
interface Candidate {
  readonly document: number;
  readonly score: number;
  readonly lifted: 'pin' | 'key' | null;
}

/** Finds rows by what a question asks for. Adding, changing and removing a row is incremental. */
export class Resolver {
  readonly #index = new InvertedIndex(FIELDS);
  readonly #table = new MatchTable();
  readonly #words = englishWords();
  readonly #meanings = new Meanings(this.#words);
  /** Vectors of rows by the embeddings service. */
  readonly #embeddings = new Embeddings();
  /** Each row's number in the index. What ranking needs of a row stands by that number: its texts are in the index alone. */
  readonly #numbers = new Map<string, number>();
  readonly #keys: (string | undefined)[] = [];
  readonly #ranks = new GrowingArray(0);
  readonly #keyTerms = new GrowingArray(0);
  readonly #marks = new Marks();
  readonly #demoted = new Set<number>();
  readonly #pins = new Pins();
  #learned = new Learned();

  /** Rows that have a vector of the embeddings service. */
  get embedded(): number {
    return this.#embeddings.size;
  }

  /** Adds a row, or puts its new text in place of the old. Its vector is gone then: it was the old text's. */
  upsert(document: CapabilityDocument): void {
    this.remove(document.key);
    const { key, rank, demoted, pinnedFor } = document;
    const fields = FIELDS.map(({ name }) => toTextTerms(document[name]));
    const number = this.#index.add(fields);
    this.#meanings.set(number, fields);
    this.#numbers.set(key, number);
    this.#keys[number] = key;
    this.#ranks.set(number, rank);
    this.#marks.set(number, key);
    this.#keyTerms.set(number, new Set(fields[0]).size);
    if (demoted) this.#demoted.add(number);
    this.#pins.add(key, pinnedFor);
  }

  /** Takes a row out; one that is not there is fine. */
  remove(key: string): void {
    const number = this.#numbers.get(key);
    if (number === undefined) return;
    this.#numbers.delete(key);
    this.#keys[number] = undefined;
    this.#demoted.delete(number);
    this.#pins.delete(key);
    this.#index.remove(number);
    this.#meanings.delete(number);
    this.#embeddings.delete(number);
  }

  /**
   * Gives a row the vector of its text, or takes it away. The bytes are copied.
   * @returns false for a row that is not there, and for a vector of other dimensions than the rest.
   */
  setEmbedding(key: string, vector: Int8Array | undefined): boolean {
    const number = this.#numbers.get(key);
    if (number === undefined) return false;
    if (vector !== undefined) return this.#embeddings.set(number, vector);
    this.#embeddings.delete(number);
    return true;
  }

  /**
   * Takes in place of the last ones what calls taught: of rows that are nearly as good, those that were called before lead.
   * @param nextTurn waits until others have had their turn, between some pairs and the next.
   */
  async setLearned(pairs: readonly LearnedPair[], nextTurn: () => Promise<unknown>): Promise<void> {
    this.#learned = await Learned.of(pairs, nextTurn);
  }

  /** Ranks the rows that fit a question, are named in it, or are pinned for it. Never throws. */
  search(text: string, { limit, filter = () => true, embedding }: SearchOptions): Ranking {
    const question = parseQuestion(text);
    this.#index.match(this.#toQueryTerms(question), this.#table);
    const scorer = new Scorer(question, {
      table: this.#table,
      meanings: this.#meanings,
      embeddings: this.#embeddings,
      keyTerms: (document) => this.#keyTerms.get(document),
      embedding,
    });
    const lifted = this.#findLifted(text, filter);
    const documents = this.#findCandidates(lifted, filter, scorer);
    const calls = this.#learned.find(question);
    const taught = (document: number) => LEARNED * (calls?.get(this.#keys[document] ?? '') ?? 0);
    const ranking = new ClauseRanking(question, scorer, (a, b) => this.#isBefore(a, b));
    const best = new Best<Candidate>(limit, (a, b) => this.#compare(a, b));
    for (const document of documents) {
      const score = scorer.score(document) * (this.#demoted.has(document) ? DEMOTION : 1) + taught(document);
      best.add({ document, score, lifted: lifted.get(document) ?? null });
      ranking.add(document);
    }
    const { clauses } = ranking;
    const needs = findNeeds(clauses);
    const hits = this.#toHits(coverSteps(withoutTail(best.items), needs, limit, scorer), scorer);
    const confidence = toRankingConfidence(hits, clauses, needs.length);
    const steps = findSteps(clauses).map((step) => this.#toStep(step));
    return { hits, confidence, fits: confidence >= CONFIDENCE_MIN, steps };
  }

  #toQueryTerms({ terms, clauses }: Question): QueryTerm[] {
    const parts = terms.map(() => 0);
    for (const [part, clause] of clauses.entries()) {
      for (const place of clause.terms) parts[place] = (parts[place] ?? 0) | (1 << part);
    }
    let unknown = 0;
    return terms.map((term, place) => {
      const synonyms = [...findSynonyms(term)].map((other) => ({ term: other, share: SYNONYM }));
      // Names of things are unknown, too: a question of many is about them, and not misspelt.
      const isMisspelt = !this.#words.has(term) && unknown < MISSPELT_MAX;
      const meant = isMisspelt ? this.#index.findMeant(term).map((other) => ({ term: other, share: MISSPELT })) : [];
      unknown += isMisspelt ? 1 : 0;
      return { term, parts: parts[place] ?? 0, others: [...synonyms, ...meant] };
    });
  }

  #toHits(candidates: readonly Candidate[], scorer: Scorer): Hit[] {
    return candidates.map(({ document, score, lifted }) => ({
      key: this.#keys[document] ?? '',
      score,
      lifted,
      parts: scorer.explain(document),
    }));
  }

  #toStep({ clause, rows }: RankedClause): Step {
    return { clause, keys: rows.map(({ document }) => this.#keys[document] ?? '') };
  }

  /** Numbers of the rows to score: those lifted, the best by words, and in a small catalogue those that are near in meaning. */
  #findCandidates(lifted: ReadonlyMap<number, unknown>, filter: (key: string) => boolean, scorer: Scorer): number[] {
    const found = new Set(lifted.keys());
    const isAllowed = (document: number): boolean => {
      const key = this.#keys[document];
      return key !== undefined && filter(key);
    };
    const { documents, count, totals } = this.#table;
    for (const step of stepsByScore(documents, count, totals)) {
      if (found.size >= CANDIDATES_MAX) break;
      for (const document of this.#marks.choose(step, CANDIDATES_MAX - found.size, isAllowed)) found.add(document);
    }
    if (this.#numbers.size > SMALL) return [...found];
    for (const document of this.#numbers.values()) {
      if (scorer.isNear(document, MEANING_MIN) && isAllowed(document)) found.add(document);
    }
    return [...found];
  }

  /** Rows that stand before all others: pinned for the question, or named in it. A pin outranks a name. */
  #findLifted(question: string, filter: (key: string) => boolean): Map<number, 'pin' | 'key'> {
    const named = this.#keysNamedIn(question).map((key) => [key, 'key'] as const);
    const pinned = this.#pins.find(question).map((key) => [key, 'pin'] as const);
    const lifted = new Map<number, 'pin' | 'key'>();
    for (const [key, tier] of [...named, ...pinned]) {
      const number = this.#numbers.get(key);
      if (number !== undefined && filter(key)) lifted.set(number, tier);
    }
    return lifted;
  }

  #keysNamedIn(question: string): string[] {
    const whole = question.slice(0, QUESTION_LENGTH_MAX).trim();
    const words = whole.match(/[A-Z_][A-Z0-9_]{1,63}/g) ?? [];
    const named = [...words, whole.toUpperCase().replace(/[\s-]+/g, '_')];
    return [...new Set(named)].filter((key) => this.#numbers.has(key));
  }

  /** Of equal scores the one with the rarer word comes first, then by rank, then by key: never by the order of insertion. */
  #compare(a: Candidate, b: Candidate): number {
    const tier = ({ lifted }: Candidate) => (lifted === null ? 0 : TIERS[lifted]);
    const rarest = ({ document }: Candidate) => (this.#table.has(document) ? (this.#table.rarest[document] ?? 0) : 0);
    return (
      tier(b) - tier(a) ||
      b.score - a.score ||
      rarest(b) - rarest(a) ||
      (this.#isBefore(a.document, b.document) ? -1 : 1)
    );
  }

  /** By rank, then by key: never by the order of insertion. */
  #isBefore(a: number, b: number): boolean {
    const more = this.#ranks.get(a) - this.#ranks.get(b);
    return more < 0 || (more === 0 && (this.#keys[a] ?? '') < (this.#keys[b] ?? ''));
  }
}

function withoutTail(candidates: readonly Candidate[]): readonly Candidate[] {
  const most = candidates.reduce((score, candidate) => Math.max(score, candidate.score), 0);
  return candidates.filter(({ score, lifted }) => lifted !== null || score >= most * TAIL_MIN);
}

/** Puts the best row of every step among the hits: the last ones make room for those that are missing. */
function coverSteps(
  hits: readonly Candidate[],
  steps: readonly RankedClause[],
  limit: number,
  scorer: Scorer,
): readonly Candidate[] {
  const there = new Set(hits.map(({ document }) => document));
  const firsts = new Set(steps.flatMap(({ rows: [row] }) => (row === undefined ? [] : [row.document])));
  const missing = [...firsts]
    .filter((document) => !there.has(document))
    .map((document) => ({ document, score: scorer.score(document), lifted: null }));
  let over = hits.length + missing.length - limit;
  // The last of those that no step needs.
  const kept = [...hits].reverse().filter(({ document }) => firsts.has(document) || over-- <= 0);
  return [...kept.reverse(), ...missing].slice(0, limit);
}

function toRankingConfidence(hits: readonly Hit[], clauses: readonly RankedClause[], needs: number): number {
  if (hits[0] === undefined) return 0;
  if (hits[0].lifted !== null) return 1;
  return toConfidence({
    scores: hits.map(({ score }) => score),
    parts: hits.map(({ parts }) => parts),
    steps: needs,
    distinction: toDistinction(clauses),
  });
}
