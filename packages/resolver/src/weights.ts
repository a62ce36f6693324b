/**
 * Every constant of the ranking. Fitted on one half of public sets of questions and tools, looked at on the other; none is
 * about a single row.
 */

/** Fields of a row: how much a word there tells of what the row does, and how far the length of the field is held against it. */
export const FIELDS = [
  { name: 'key', weight: 4, b: 0.9, meaning: 2 },
  { name: 'category', weight: 0.3, b: 0.9, meaning: 0.5 },
  { name: 'what', weight: 1, b: 0.75, meaning: 1 },
  { name: 'whenToUse', weight: 0.8, b: 0.75, meaning: 0.5 },
  { name: 'asks', weight: 1, b: 0.75, meaning: 0.5 },
  { name: 'argumentNames', weight: 0.5, b: 0, meaning: 0.3 },
  { name: 'argumentNotes', weight: 0.4, b: 0.75, meaning: 0.2 },
  { name: 'examples', weight: 0.2, b: 0.75, meaning: 0 },
] as const;

/** What a score is made of: the sum of these, each 0 to 1, over their sum. */
export const WEIGHTS = {
  /** BM25F of the whole question. */
  words: 1,
  /** BM25F of the clause that the row answers best; of a small clause less. */
  clauseWords: 0.1,
  /** Share of the question that the row holds at all, rare words more. */
  coverage: 0.45,
  /** Share of the row's key that stands in the question. */
  name: 0.05,
  /** Nearness in meaning to the whole question. */
  meaning: 0.1,
  /** The same to the nearest clause. */
  clauseMeaning: 0.2,
  /** Nearness by the embeddings service, where one is set. */
  embedding: 0.2,
} as const;

/** A demoted row's score is so much of what it would be. */
export const DEMOTION = 0.3;

/** What the row gains that was called after the same question most often: enough to lead among equals, and no more. */
export const LEARNED = 0.01;
