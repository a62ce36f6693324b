import type { Embeddings } from './embeddings.js';
import type { MatchTable } from './match-table.js';
import { PARTS_MAX } from './match-table.js';
import type { Meanings } from './meanings.js';
import type { Question } from './question.js';
import { WEIGHTS } from './weights.js';

/** What a score is made of, each 0 to 1. */
export type ScoreParts = { readonly [Part in keyof typeof WEIGHTS]: number };

/** What a question is compared with. */
export interface Compared {
  readonly table: MatchTable;
  readonly meanings: Meanings;
  readonly embeddings: Embeddings;
  /** Distinct terms of a row's key. */
  readonly keyTerms: (document: number) => number;
  /** The question's vector from the embeddings service, of unit length. */
  readonly embedding: Float32Array | undefined;
}

/** Scores rows for one question, after the index has filled the table. */
export class Scorer {
  readonly #compared: Compared;
  readonly #meaning: Float32Array | undefined;
  readonly #clauses: readonly { readonly meaning: Float32Array | undefined; readonly share: number }[];
  readonly #weightSum: number;
  /** Nearness of the row {@link Scorer.#nearOf} to each clause. */
  readonly #near = new Float64Array(PARTS_MAX);
  #nearOf = -1;

  constructor(question: Question, compared: Compared) {
    this.#compared = compared;
    const { table, meanings, embedding } = compared;
    this.#meaning = meanings.toVector(question.terms);
    const heaviest = Math.max(...table.partWeights);
    this.#clauses = question.clauses.map(({ terms }, part) => ({
      meaning:
        question.clauses.length === 1
          ? this.#meaning
          : meanings.toVector(terms.map((place) => question.terms[place] ?? '')),
      share: heaviest === 0 ? 0 : Math.sqrt((table.partWeights[part] ?? 0) / heaviest),
    }));
    const { embedding: slot, ...always } = WEIGHTS;
    this.#weightSum = Object.values(always).reduce((sum, weight) => sum + weight, embedding === undefined ? 0 : slot);
  }

  /** Whole score of a row, 0 to 1. */
  score(document: number): number {
    const parts = this.explain(document);
    return (
      (WEIGHTS.words * parts.words +
        WEIGHTS.clauseWords * parts.clauseWords +
        WEIGHTS.coverage * parts.coverage +
        WEIGHTS.name * parts.name +
        WEIGHTS.meaning * parts.meaning +
        WEIGHTS.clauseMeaning * parts.clauseMeaning +
        WEIGHTS.embedding * parts.embedding) /
      this.#weightSum
    );
  }

  /** What the score of a row is made of. */
  explain(document: number): ScoreParts {
    const isFound = this.#compared.table.has(document);
    return {
      words: isFound ? this.#words(document) : 0,
      clauseWords: isFound ? this.#bestClauseWords(document) : 0,
      coverage: isFound ? this.#coverage(document) : 0,
      name: isFound ? this.#name(document) : 0,
      meaning: this.#nearness(document),
      clauseMeaning: this.nearestClause(document),
      embedding: this.embedding(document),
    };
  }

  /** BM25F of a row for one clause, as a share of the clause's weight. */
  clauseWords(document: number, part: number): number {
    const { table } = this.#compared;
    const weight = table.partWeights[part] ?? 0;
    if (weight === 0 || !table.has(document)) return 0;
    return (table.parts[document * PARTS_MAX + part] ?? 0) / weight;
  }

  /** Weight of one clause, in terms that no row holds. */
  clauseTerms(part: number): number {
    const { partWeights, unknownWeight } = this.#compared.table;
    return (partWeights[part] ?? 0) / unknownWeight;
  }

  /** How near a row is to one clause, 0 to 1. */
  clauseMeaning(document: number, part: number): number {
    if (this.#nearOf !== document) this.#compareClauses(document);
    return this.#near[part] ?? 0;
  }

  /** Rows are asked for one after the other, and each several times. */
  #compareClauses(document: number): void {
    this.#nearOf = document;
    for (let part = 0; part < this.#clauses.length; part += 1) {
      this.#near[part] = this.#compared.meanings.nearness(document, this.#clauses[part]?.meaning);
    }
  }

  /** How near a row is to the clause that it is nearest to, 0 to 1. */
  nearestClause(document: number): number {
    let nearest = 0;
    for (let part = 0; part < this.#clauses.length; part += 1) {
      nearest = Math.max(nearest, this.clauseMeaning(document, part));
    }
    return nearest;
  }

  /** Whether a row is so near in meaning, by the words of a clause or by the embeddings service. */
  isNear(document: number, least: number): boolean {
    return this.nearestClause(document) >= least || this.embedding(document) >= least;
  }

  /** How near a row is to the question by the embeddings service, 0 to 1; 0 without one. */
  embedding(document: number): number {
    const { embeddings, embedding } = this.#compared;
    return embedding === undefined ? 0 : Math.max(0, embeddings.cosine(document, embedding));
  }

  #nearness(document: number): number {
    if (this.#clauses.length === 1) return this.clauseMeaning(document, 0);
    return this.#compared.meanings.nearness(document, this.#meaning);
  }

  #words(document: number): number {
    const { totals, weight } = this.#compared.table;
    return (totals[document] ?? 0) / weight;
  }

  #coverage(document: number): number {
    const { covered, weight } = this.#compared.table;
    return (covered[document] ?? 0) / weight;
  }

  #name(document: number): number {
    const terms = this.#compared.keyTerms(document);
    return terms === 0 ? 0 : (this.#compared.table.firstFieldHits[document] ?? 0) / terms;
  }

  #bestClauseWords(document: number): number {
    let best = 0;
    for (let part = 0; part < this.#clauses.length; part += 1) {
      best = Math.max(best, (this.#clauses[part]?.share ?? 0) * this.clauseWords(document, part));
    }
    return best;
  }
}
