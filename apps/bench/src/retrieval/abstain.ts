import { newChance, shuffle } from '../chance.js';
import type { Question } from './data.js';
import type { Ranked } from './ranking.js';
import { type CurvePoint, type Judged, toArea, toCurve, toShare } from './roc.js';

/** Which tools are taken away, and which questions can then no longer be answered. */
export interface Removal {
  readonly removed: ReadonlySet<string>;
  /** By the question's id: whether at least one of its tools is still there. */
  readonly answerable: ReadonlyMap<string, boolean>;
}

/**
 * Takes the tools of half the questions away, chosen by chance. Others may lose some of theirs, or all: a question is
 * answerable as long as one of its tools is left.
 */
export function removeHalf(questions: readonly Question[], seed: number): Removal {
  const chosen = shuffle(questions, newChance(seed)).slice(0, Math.floor(questions.length / 2));
  const removed = new Set(chosen.flatMap(({ relevant }) => relevant));
  const answerable = new Map(questions.map(({ id, relevant }) => [id, relevant.some((tool) => !removed.has(tool))]));
  return { removed, answerable };
}

/** How well a system knows when nothing fits. */
export interface Abstaining {
  readonly answerable: number;
  readonly unanswerable: number;
  /** Area under the ROC curve of confidence; undefined for a system that has none. */
  readonly area: number | undefined;
  readonly curve: readonly CurvePoint[];
  /** By the system's own threshold: share of the answerable questions that it leaves unanswered. */
  readonly falseAbstain: number | undefined;
  /** And of the unanswerable ones. */
  readonly trueAbstain: number | undefined;
}

/** The thresholds of the curve: hundredths, from 0 to 1. */
const THRESHOLDS = Array.from({ length: 101 }, (_, index) => index / 100);

/** Sums up what a system answered once the tools were gone. */
export function toAbstaining(
  answers: readonly { readonly id: string; readonly ranked: Ranked }[],
  answerable: ReadonlyMap<string, boolean>,
): Abstaining {
  const all = answers.map(({ id, ranked }) => ({ ...ranked, answerable: answerable.get(id) === true }));
  const judged: Judged[] = all.flatMap(({ confidence, answerable: isAnswerable }) =>
    confidence === undefined ? [] : [{ confidence, answerable: isAnswerable }],
  );
  const saysFits = all.some(({ fits }) => fits !== undefined);
  const share = (kind: boolean) => (saysFits ? toShare(all, kind, ({ fits }) => fits === false) : undefined);
  return {
    answerable: all.filter((one) => one.answerable).length,
    unanswerable: all.filter((one) => !one.answerable).length,
    area: judged.length === 0 ? undefined : toArea(judged),
    curve: judged.length === 0 ? [] : toCurve(judged, THRESHOLDS),
    falseAbstain: share(true),
    trueAbstain: share(false),
  };
}
