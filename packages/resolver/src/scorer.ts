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
    const { table, meanings, embeddings, keyTerms, embedding } = this.#compared;
    let clauseWords = 0;
    let clauseMeaning = 0;
    for (const [part, { share }] of this.#clauses.entries()) {
      clauseWords = Math.max(clauseWords, share * this.clauseWords(document, part));
      clauseMeaning = Math.max(clauseMeaning, this.clauseMeaning(document, part));
    }
    const weight = table.weight === 0 ? 1 : table.weight;
    const named = keyTerms(document);
    return {
      words: (table.totals[document] ?? 0) / weight,
      clauseWords,
      coverage: (table.covered[document] ?? 0) / weight,
      name: named === 0 ? 0 : (table.firstFieldHits[document] ?? 0) / named,
      meaning: meanings.nearness(document, this.#meaning),
      clauseMeaning,
      embedding: embedding === undefined ? 0 : Math.max(0, embeddings.cosine(document, embedding)),
    };
  }

  /** BM25F of a row for one clause, as a share of the clause's weight. */
  clauseWords(document: number, part: number): number {
    const { table } = this.#compared;
    const weight = table.partWeights[part] ?? 0;
    return weight === 0 ? 0 : (table.parts[document * PARTS_MAX + part] ?? 0) / weight;
  }

  /** How near a row is to one clause. */
  clauseMeaning(document: number, part: number): number {
    return this.#compared.meanings.nearness(document, this.#clauses[part]?.meaning);
  }
}
