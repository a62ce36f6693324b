import type { ScoreParts } from './scorer.js';

/** What tells whether the first row answers the question. */
export interface Evidence {
  /** Scores of the hits, best first, one at the least. */
  readonly scores: readonly number[];
  /** What the score of each is made of. */
  readonly parts: readonly ScoreParts[];
  /** How many steps the question has, with rows that fit each. */
  readonly steps: number;
  /** How much the best row of some clause stands out. */
  readonly distinction: number;
}

/** Logistic, fitted as the weights of the score are: on questions half of which had lost the rows that answer them. */
const COEFFICIENTS = {
  base: -3.84,
  clause: 1.21,
  spread: 1.8,
  steps: 0.83,
  coverage: 2.17,
  distinction: 3.54,
} as const;
/** Fewer others than that are too few to tell, and how far others are usually behind. */
const OTHERS_MIN = 4;
const SPREAD_USUAL = 0.45;
/** More steps than that make nobody surer. */
const STEPS_MAX = 4;

/** Below it a row does not answer the question: of those that are answered, one in twenty is lost at the most. */
export const CONFIDENCE_MIN = 0.15;

/** How probably the first row is one that was asked for, 0 to 1. */
export function toConfidence({ scores, parts, steps, distinction }: Evidence): number {
  const [first = 0, ...rest] = scores;
  if (first <= 0) return 0;
  const sum =
    COEFFICIENTS.base +
    COEFFICIENTS.clause * Math.max(...parts.map(clauseOf)) +
    COEFFICIENTS.spread * toSpread(first, rest) +
    COEFFICIENTS.steps * (Math.min(steps, STEPS_MAX) / STEPS_MAX) +
    COEFFICIENTS.coverage * (parts[0]?.coverage ?? 0) +
    COEFFICIENTS.distinction * distinction;
  return 1 / (1 + Math.exp(-sum));
}

/** How far the others are behind the first, 0 to 1. Few others tell little: those that are missing count as usual ones. */
function toSpread(first: number, others: readonly number[]): number {
  const missing = Math.max(0, OTHERS_MIN - others.length);
  const behind = others.reduce((sum, score) => sum + 1 - score / first, 0);
  return (behind + missing * SPREAD_USUAL) / (others.length + missing);
}

/** How well a row answers the clause that it answers best. */
const clauseOf = ({ clauseWords, clauseMeaning, name }: ScoreParts): number =>
  clauseWords + 0.5 * clauseMeaning + 0.3 * name;
