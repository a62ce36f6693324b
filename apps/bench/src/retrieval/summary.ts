import type { Goal } from '../goals.js';
import { toNumber, toTable } from '../table.js';
import type { Abstaining } from './abstain.js';
import type { Run } from './measure.js';
import { METRICS, type SetScores } from './metrics.js';
import type { SystemName } from './systems.js';

/** What came of one system. */
export interface SystemFigures extends Omit<Run, 'answers'> {
  readonly system: SystemName;
  /** Empty with `--abstain`. */
  readonly sets: readonly SetScores[];
  /** Undefined without. */
  readonly abstaining: Abstaining | undefined;
}

/** Goals of the product on the development set. */
const FLOORS = { 'nDCG@10': 0.625, 'R@12': 0.72 } as const;
const AREA_MIN = 0.8;
const FALSE_ABSTAIN_MAX = 0.05;
/** Every so many points of the curve are shown. */
const SHOWN_EVERY = 5;

/** What the product has to reach. */
export function toRetrievalGoals(all: readonly SystemFigures[]): Goal[] {
  const product = all.find(({ system }) => system === 'rowcall');
  if (product === undefined) return [];
  const { abstaining, sets } = product;
  if (abstaining !== undefined) {
    return [
      { name: 'area under the ROC curve', value: abstaining.area, limit: AREA_MIN, bound: 'least', unit: '' },
      { name: 'false abstain', value: abstaining.falseAbstain, limit: FALSE_ABSTAIN_MAX, bound: 'most', unit: '' },
    ];
  }
  const micro = sets.find(({ set }) => set === '(micro)')?.scores;
  return (['nDCG@10', 'R@12'] as const).map((metric) => ({
    name: `micro ${metric}`,
    value: micro?.[metric],
    limit: FLOORS[metric],
    bound: 'least',
    unit: '',
  }));
}

const toShareText = (value: number | undefined): string => (value === undefined ? '-' : value.toFixed(4));

const toScoreTable = (all: readonly SystemFigures[]): string =>
  toTable(
    ['system', 'set', ...METRICS, 'questions'],
    all.flatMap(({ system, sets }) =>
      sets.map(({ set, scores, questions }) => [
        system,
        set,
        ...METRICS.map((metric) => toShareText(scores[metric])),
        String(questions),
      ]),
    ),
  );

const toCostTable = (all: readonly SystemFigures[]): string =>
  toTable(
    ['system', 'p50 ms', 'p99 ms', 'max ms', 'CPU p50 ms', 'CPU p99 ms', 'build ms', 'memory MB'],
    all.map(({ system, latency, cpu, buildMs, memoryMb }) => [
      system,
      ...[latency.p50Ms, latency.p99Ms, latency.maxMs, cpu.p50Ms, cpu.p99Ms, buildMs, memoryMb].map(toNumber),
    ]),
  );

function toAbstainText(system: SystemName, abstaining: Abstaining): string {
  const { answerable, unanswerable, area, curve, falseAbstain, trueAbstain } = abstaining;
  const head = `${system}: ${answerable} answerable, ${unanswerable} not; area under the ROC curve ${toShareText(area)}`;
  const own = `its own threshold abstains on ${toShareText(falseAbstain)} of the answerable, ${toShareText(trueAbstain)} of the others`;
  if (curve.length === 0) return `${head}; ${own}`;
  const shown = curve.filter((_, index) => index % SHOWN_EVERY === 0);
  const points = shown.map((point) => [
    point.threshold.toFixed(2),
    toShareText(point.falseAbstain),
    toShareText(point.trueAbstain),
  ]);
  return `${head}\n${own}\n\n${toTable(['threshold', 'false abstain', 'true abstain'], points)}`;
}

/** The figures as tables. */
export function retrievalToText(all: readonly SystemFigures[]): string {
  const abstaining = all.flatMap((one) =>
    one.abstaining === undefined ? [] : [toAbstainText(one.system, one.abstaining)],
  );
  const parts = abstaining.length === 0 ? [toScoreTable(all)] : abstaining;
  return [...parts, toCostTable(all)].join('\n\n');
}
