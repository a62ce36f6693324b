/** One question: how sure the system was, and whether anything was there to find. */
export interface Judged {
  /** 0 to 1. */
  readonly confidence: number;
  readonly answerable: boolean;
}

/** What a threshold would do: below it, the system answers that nothing fits. */
export interface CurvePoint {
  readonly threshold: number;
  /** Share of the answerable questions that it leaves unanswered. */
  readonly falseAbstain: number;
  /** Share of the unanswerable ones. */
  readonly trueAbstain: number;
}

/**
 * Area under the ROC curve: how often an answerable question has the greater confidence of the two, of all pairs with an
 * unanswerable one; ties count half. NaN when one kind is missing.
 */
export function toArea(judged: readonly Judged[]): number {
  const sorted = [...judged].sort((a, b) => a.confidence - b.confidence);
  let rankSum = 0;
  for (let start = 0; start < sorted.length; ) {
    const confidence = sorted[start]?.confidence;
    let end = start;
    while (end < sorted.length && sorted[end]?.confidence === confidence) end += 1;
    const answerable = sorted.slice(start, end).filter((one) => one.answerable).length;
    rankSum += (answerable * (start + 1 + end)) / 2;
    start = end;
  }
  const positives = judged.filter(({ answerable }) => answerable).length;
  const negatives = judged.length - positives;
  return (rankSum - (positives * (positives + 1)) / 2) / (positives * negatives);
}

/** Share of the questions of one kind that `abstains` leaves unanswered. NaN for none. */
export function toShare<One extends { readonly answerable: boolean }>(
  judged: readonly One[],
  answerable: boolean,
  abstains: (one: One) => boolean,
): number {
  const kind = judged.filter((one) => one.answerable === answerable);
  return kind.filter(abstains).length / kind.length;
}

/** What each of the thresholds would do. */
export const toCurve = (judged: readonly Judged[], thresholds: readonly number[]): CurvePoint[] =>
  thresholds.map((threshold) => {
    const abstains = ({ confidence }: Judged) => confidence < threshold;
    return {
      threshold,
      falseAbstain: toShare(judged, true, abstains),
      trueAbstain: toShare(judged, false, abstains),
    };
  });
