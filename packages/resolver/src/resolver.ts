import MiniSearch, { type SearchResult } from 'minisearch';
import { toTerm, toTerms, toWords } from './normalise.js';

/** What of a row is searched. */
export interface CapabilityDocument {
  readonly key: string;
  readonly category: string;
  readonly what: string;
  readonly whenToUse: string;
  /** Names and descriptions of the arguments. */
  readonly argumentsText: string;
  readonly examplesText: string;
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
  /** Comparable within one question only. */
  readonly score: number;
  /** Why the row stands before all others whatever its score: pinned for the question, or named in it by its key. */
  readonly lifted: 'pin' | 'key' | null;
  /** Share of the question's terms that the row holds, 0 to 1. */
  readonly coverage: number;
}

/** How a search is narrowed. */
export interface SearchOptions {
  /** Hits at the most. */
  readonly limit: number;
  /** Rows that may appear; applied inside the search, so that `limit` hits remain. */
  readonly filter?: (key: string) => boolean;
}

const FIELDS = ['key', 'category', 'what', 'whenToUse', 'argumentsText', 'examplesText'];
const BOOST = { key: 4, what: 2, whenToUse: 1, category: 0.6, argumentsText: 0.5, examplesText: 0.5 };
const DEMOTION = 0.3;
/** An exact key in the question outranks any text; a pin outranks that. */
const TIERS = { pin: 2, key: 1 } as const;

const toPhrase = (text: string): string => toWords(text).join(' ');

/** Finds rows by what a question asks for. Adding, changing and removing a row is incremental. */
export class Resolver {
  readonly #index = new MiniSearch<CapabilityDocument>({
    idField: 'key',
    fields: FIELDS,
    tokenize: toWords,
    processTerm: toTerm,
    // Old terms are cleared away in small bites: a great one would hold up every call.
    autoVacuum: { minDirtFactor: 0.1, minDirtCount: 100, batchSize: 100, batchWait: 5 },
  });
  /** What ranking needs of a row; its texts are in the index alone. */
  readonly #documents = new Map<string, Pick<CapabilityDocument, 'rank' | 'demoted' | 'pinnedFor'>>();
  readonly #pins = new Map<string, Set<string>>();

  /** Adds a row, or puts its new text in place of the old. */
  upsert(document: CapabilityDocument): void {
    this.remove(document.key);
    const { key, rank, demoted, pinnedFor } = document;
    this.#documents.set(key, { rank, demoted, pinnedFor });
    this.#index.add(document);
    for (const phrase of document.pinnedFor.map(toPhrase)) {
      const keys = this.#pins.get(phrase) ?? new Set();
      this.#pins.set(phrase, keys.add(document.key));
    }
  }

  /** Takes a row out; one that is not there is fine. */
  remove(key: string): void {
    const document = this.#documents.get(key);
    if (document === undefined) return;
    this.#documents.delete(key);
    this.#index.discard(key);
    for (const phrase of document.pinnedFor.map(toPhrase)) {
      const keys = this.#pins.get(phrase);
      keys?.delete(key);
      if (keys?.size === 0) this.#pins.delete(phrase);
    }
  }

  /** Ranks the rows that share terms with the question, are named in it, or are pinned for it. Never throws. */
  search(question: string, options: SearchOptions): Hit[] {
    const allowed = options.filter ?? (() => true);
    const scores = new Map<string, Hit>();
    const terms = toTerms(question);
    if (terms.length > 0) {
      const found = this.#index.search(terms.join(' '), {
        boost: BOOST,
        processTerm: (term) => term,
        filter: (result) => allowed(result.id as string),
      });
      for (const result of found) scores.set(result.id as string, this.#toHit(result, terms.length));
    }
    this.#lift(scores, this.#keysNamedIn(question).filter(allowed), 'key');
    this.#lift(scores, [...(this.#pins.get(toPhrase(question)) ?? [])].filter(allowed), 'pin');
    return [...scores.values()].sort((a, b) => this.#compare(a, b)).slice(0, options.limit);
  }

  #toHit(result: SearchResult, termCount: number): Hit {
    const key = result.id as string;
    const factor = this.#documents.get(key)?.demoted ? DEMOTION : 1;
    return {
      key,
      lifted: null,
      score: result.score * factor,
      coverage: Math.min(1, result.queryTerms.length / termCount),
    };
  }

  #lift(scores: Map<string, Hit>, keys: readonly string[], lifted: 'pin' | 'key'): void {
    for (const key of keys) scores.set(key, { key, lifted, score: scores.get(key)?.score ?? 0, coverage: 1 });
  }

  #keysNamedIn(question: string): string[] {
    const whole = question.trim();
    const words = question.match(/[A-Z_][A-Z0-9_]{1,63}/g) ?? [];
    const named = [...words, whole.toUpperCase().replace(/[\s-]+/g, '_')];
    return [...new Set(named)].filter((key) => this.#documents.has(key));
  }

  #compare(a: Hit, b: Hit): number {
    const rank = (hit: Hit) => this.#documents.get(hit.key)?.rank ?? 0;
    const tier = (hit: Hit) => (hit.lifted === null ? 0 : TIERS[hit.lifted]);
    return tier(b) - tier(a) || b.score - a.score || rank(a) - rank(b) || (a.key < b.key ? -1 : 1);
  }
}
