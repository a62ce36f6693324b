/** Names of the figures, in the order in which they are shown. */
export const METRICS = ['R@1', 'R@5', 'R@12', 'MRR@12', 'nDCG@10', 'C@12'] as const;
export type Metric = (typeof METRICS)[number];
/** Each between 0 and 1. */
export type Scores = Readonly<Record<Metric, number>>;

/** Results that are looked at. */
export const RESULTS_MAX = 12;
const GAINS_MAX = 10;

const gainAt = (index: number): number => 1 / Math.log2(index + 2);

/**
 * Scores one ranking. Relevance is binary: R@k is the share of the relevant ids among the first k, MRR@12 one by the
 * place of the first of them, nDCG@10 by the best that as many ids could reach, C@12 one when all of them are there.
 * @param ranked ids, best first, each once.
 * @param relevant at least one.
 */
export function scoreRanking(ranked: readonly string[], relevant: ReadonlySet<string>): Scores {
  const isRelevant = ranked.slice(0, RESULTS_MAX).map((id) => relevant.has(id));
  const recall = (k: number) => isRelevant.slice(0, k).filter(Boolean).length / relevant.size;
  const gain = (flags: readonly boolean[]) =>
    flags.slice(0, GAINS_MAX).reduce((sum, flag, index) => sum + (flag ? gainAt(index) : 0), 0);
  const first = isRelevant.indexOf(true);
  return {
    'R@1': recall(1),
    'R@5': recall(5),
    'R@12': recall(RESULTS_MAX),
    'MRR@12': first < 0 ? 0 : 1 / (first + 1),
    'nDCG@10': gain(isRelevant) / gain(Array.from(relevant, () => true)),
    'C@12': recall(RESULTS_MAX) === 1 ? 1 : 0,
  };
}

/** Means over all. NaN for none. */
export function meanScores(all: readonly Scores[]): Scores {
  const mean = (metric: Metric) => all.reduce((sum, scores) => sum + scores[metric], 0) / all.length;
  return Object.fromEntries(METRICS.map((metric) => [metric, mean(metric)])) as Record<Metric, number>;
}

/** Means of a set of questions. */
export interface SetScores {
  readonly set: string;
  readonly questions: number;
  readonly scores: Scores;
}

/** Means of each set, over all questions (`micro`), and over the sets (`macro`). */
export function summarise(scored: readonly { readonly set: string; readonly scores: Scores }[]): SetScores[] {
  const names = [...new Set(scored.map(({ set }) => set))];
  const sets = names.map((set) =>
    toSetScores(
      set,
      scored.filter((one) => one.set === set),
    ),
  );
  const micro = toSetScores('(micro)', scored);
  const macro = { set: '(macro)', questions: scored.length, scores: meanScores(sets.map(({ scores }) => scores)) };
  return [...sets, micro, macro];
}

const toSetScores = (set: string, all: readonly { readonly scores: Scores }[]): SetScores => ({
  set,
  questions: all.length,
  scores: meanScores(all.map(({ scores }) => scores)),
});
