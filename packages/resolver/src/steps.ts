import { Best } from './best.js';
import type { Question } from './question.js';
import type { Scorer } from './scorer.js';

/** One of several things that a question asks for. */
export interface Step {
  /** The part of the question, as it stands there. */
  readonly clause: string;
  /** Keys of the rows that fit it, best first. */
  readonly keys: readonly string[];
}

/** A step by the numbers of its rows. */
export interface NumberedStep {
  readonly clause: string;
  readonly documents: readonly number[];
  readonly score: number;
}

/** Rows of one step. */
const STEP_ROWS = 3;
/** A clause that no row fits better asks for nothing that is here: greetings, reasons, circumstances. */
const STEP_SCORE_MIN = 0.45;
/** What nearness in meaning counts beside words that are the same. */
const MEANING = 0.5;

/**
 * The several rows that a question needs, clause by clause.
 * @param candidates numbers of the rows that come into question.
 * @param isBefore which of two rows that fit alike comes first.
 * @returns nothing when one row is all that it asks for.
 */
export function findSteps(
  question: Question,
  candidates: readonly number[],
  scorer: Scorer,
  isBefore: (a: number, b: number) => boolean,
): NumberedStep[] {
  if (question.clauses.length < 2) return [];
  const steps = question.clauses
    .map(({ text }, part) => toStep(text, candidates, (document) => scoreOf(scorer, document, part), isBefore))
    .filter(({ score }) => score >= STEP_SCORE_MIN);
  const strongest = new Map<number, NumberedStep>();
  for (const step of steps) {
    const [first = -1] = step.documents;
    if (step.score > (strongest.get(first)?.score ?? 0)) strongest.set(first, step);
  }
  return strongest.size < 2 ? [] : steps.filter((step) => [...strongest.values()].includes(step));
}

const scoreOf = (scorer: Scorer, document: number, part: number): number =>
  scorer.clauseWords(document, part) + MEANING * scorer.clauseMeaning(document, part);

function toStep(
  clause: string,
  candidates: readonly number[],
  scoreOf: (document: number) => number,
  isBefore: (a: number, b: number) => boolean,
): NumberedStep {
  const best = new Best<{ document: number; score: number }>(
    STEP_ROWS,
    (a, b) => b.score - a.score || (isBefore(a.document, b.document) ? -1 : 1),
  );
  for (const document of candidates) best.add({ document, score: scoreOf(document) });
  return { clause, documents: best.items.map(({ document }) => document), score: best.items[0]?.score ?? 0 };
}
