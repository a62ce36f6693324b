import { Best } from './best.js';
import { Embeddings } from './embeddings.js';
import { GrowingArray } from './growing-array.js';
import { InvertedIndex } from './inverted-index.js';
import { toTerms, toTextTerms, toWords } from './normalise.js';

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
  /** BM25F as a share of the question's whole weight: 0 for a row that holds none of its words. */
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

/** Fields of a row, by how much they tell of what it does. */
const FIELDS = [
  { name: 'key', weight: 4, b: 0.9 },
  { name: 'category', weight: 0.3, b: 0.9 },
  { name: 'what', weight: 1, b: 0.75 },
  { name: 'whenToUse', weight: 0.6, b: 0.75 },
  { name: 'argumentsText', weight: 0.4, b: 0.75 },
  { name: 'examplesText', weight: 0.3, b: 0.75 },
] as const;
const DEMOTION = 0.3;
/** An exact key in the question outranks any text; a pin outranks that. */
const TIERS = { pin: 2, key: 1 } as const;

const toPhrase = (text: string): string => toWords(text).join(' ');

/** Finds rows by what a question asks for. Adding, changing and removing a row is incremental. */
export class Resolver {
  readonly #index = new InvertedIndex(FIELDS);
  /** Each row's number in the index. What ranking needs of a row stands by that number: its texts are in the index alone. */
  readonly #numbers = new Map<string, number>();
  readonly #keys: (string | undefined)[] = [];
  readonly #ranks = new GrowingArray(0);
  readonly #demoted = new Set<number>();
  readonly #pinnedFor = new Map<number, readonly string[]>();
  readonly #pins = new Map<string, Set<string>>();
  readonly #embeddings = new Embeddings();

  /** Rows that have a vector. */
  get embedded(): number {
    return this.#embeddings.size;
  }

  /** Adds a row, or puts its new text in place of the old. Its vector is gone then: it was the old text's. */
  upsert(document: CapabilityDocument): void {
    this.remove(document.key);
    const { key, rank, demoted, pinnedFor } = document;
    const number = this.#index.add(FIELDS.map(({ name }) => toTextTerms(document[name])));
    this.#numbers.set(key, number);
    this.#keys[number] = key;
    this.#ranks.set(number, rank);
    if (demoted) this.#demoted.add(number);
    if (pinnedFor.length > 0) this.#pinnedFor.set(number, pinnedFor);
    for (const phrase of pinnedFor.map(toPhrase)) {
      const keys = this.#pins.get(phrase) ?? new Set();
      this.#pins.set(phrase, keys.add(key));
    }
  }

  /** Takes a row out; one that is not there is fine. */
  remove(key: string): void {
    const number = this.#numbers.get(key);
    if (number === undefined) return;
    const pinnedFor = this.#pinnedFor.get(number) ?? [];
    this.#numbers.delete(key);
    this.#keys[number] = undefined;
    this.#demoted.delete(number);
    this.#pinnedFor.delete(number);
    this.#index.remove(number);
    this.#embeddings.delete(number);
    for (const phrase of pinnedFor.map(toPhrase)) {
      const keys = this.#pins.get(phrase);
      keys?.delete(key);
      if (keys?.size === 0) this.#pins.delete(phrase);
    }
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

  /** Ranks the rows that share terms with the question, are named in it, or are pinned for it. Never throws. */
  search(question: string, options: SearchOptions): Hit[] {
    const allowed = options.filter ?? (() => true);
    const terms = toTerms(question);
    const lifted = this.#findLifted(question, allowed);
    const best = new Best<Hit>(options.limit, (a, b) => this.#compare(a, b));
    this.#index.match(terms, ({ document, score, matched }) => {
      const key = this.#keys[document];
      if (key === undefined) return;
      const hit = {
        key,
        lifted: lifted.get(key) ?? null,
        score: this.#demoted.has(document) ? score * DEMOTION : score,
        coverage: lifted.delete(key) ? 1 : matched / terms.length,
      };
      if (best.wants(hit) && allowed(key)) best.add(hit);
    });
    for (const [key, tier] of lifted) best.add({ key, lifted: tier, score: 0, coverage: 1 });
    return best.items;
  }

  /** Rows that stand before all others: pinned for the question, or named in it. A pin outranks a name. */
  #findLifted(question: string, allowed: (key: string) => boolean): Map<string, 'pin' | 'key'> {
    const named = this.#keysNamedIn(question).map((key) => [key, 'key'] as const);
    const pinned = [...(this.#pins.get(toPhrase(question)) ?? [])].map((key) => [key, 'pin'] as const);
    return new Map([...named, ...pinned].filter(([key]) => allowed(key)));
  }

  #keysNamedIn(question: string): string[] {
    const whole = question.trim();
    const words = question.match(/[A-Z_][A-Z0-9_]{1,63}/g) ?? [];
    const named = [...words, whole.toUpperCase().replace(/[\s-]+/g, '_')];
    return [...new Set(named)].filter((key) => this.#numbers.has(key));
  }

  #compare(a: Hit, b: Hit): number {
    const rank = ({ key }: Hit) => this.#ranks.get(this.#numbers.get(key) ?? -1);
    const tier = (hit: Hit) => (hit.lifted === null ? 0 : TIERS[hit.lifted]);
    return tier(b) - tier(a) || b.score - a.score || rank(a) - rank(b) || (a.key < b.key ? -1 : 1);
  }
}
