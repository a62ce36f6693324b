import type { ScoreParts } from './scorer.js';

/** What tells whether the first row answers the question. */
export interface Evidence {
  /** Scores of the hits, best first, one at the least. */
  readonly scores: readonly number[];
  /** What the score of each is made of. */
  readonly parts: readonly ScoreParts[];
  /** How many steps the question has, with rows that fit each. */
  readonly steps: number;
}

/** Logistic, fitted as the weights of the score are: on questions half of which had lost the rows that answer them. */
const COEFFICIENTS = { base: -4.6, clause: 2.68, spread: 4.15, steps: 1.2, coverage: 1.45 } as const;
/** More steps than that make nobody surer. */
const STEPS_MAX = 4;

/** Below it a row does not answer the question: of those that are answered, one in twenty is lost at the most. */
export const CONFIDENCE_MIN = 0.15;

/** How probably the first row is one that was asked for, 0 to 1. */
export function toConfidence({ scores, parts, steps }: Evidence): number {
  const [first = 0, ...rest] = scores;
  if (first <= 0) return 0;
  const mean = rest.length === 0 ? 0 : rest.reduce((sum, score) => sum + score, 0) / rest.length;
  const sum =
    COEFFICIENTS.base +
    COEFFICIENTS.clause * Math.max(...parts.map(clauseOf)) +
    COEFFICIENTS.spread * (1 - mean / first) +
    COEFFICIENTS.steps * (Math.min(steps, STEPS_MAX) / STEPS_MAX) +
    COEFFICIENTS.coverage * (parts[0]?.coverage ?? 0);
  return 1 / (1 + Math.exp(-sum));
}

/** How well a row answers the clause that it answers best. */
const clauseOf = ({ clauseWords, clauseMeaning, name }: ScoreParts): number =>
  clauseWords + 0.5 * clauseMeaning + 0.3 * name;
