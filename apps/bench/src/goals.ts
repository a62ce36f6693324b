import { toNumber, toTable } from './table.js';

/** A figure that a run has to reach. */
export interface Goal {
  readonly name: string;
  /** Undefined or NaN: could not be measured, which does not count as reached. */
  readonly value: number | undefined;
  readonly limit: number;
  /** `most`: the value may be the limit at the most; `least`: at the least. */
  readonly bound: 'most' | 'least';
  readonly unit: string;
}

/** Whether the figure was measured and is within its limit. */
export function isReached({ value, limit, bound }: Goal): boolean {
  if (value === undefined) return false;
  return bound === 'most' ? value <= limit : value >= limit;
}

function toVerdict(goal: Goal): string {
  if (isReached(goal)) return 'pass';
  return Number.isNaN(goal.value ?? Number.NaN) ? 'not measured' : 'FAIL';
}

/** The goals as a table, each with `pass`, `FAIL` or `not measured`. */
export function goalsToTable(goals: readonly Goal[]): string {
  return toTable(
    ['goal', 'measured', 'limit', 'unit', ''],
    goals.map((goal) => [
      goal.name,
      toNumber(goal.value),
      `${goal.bound === 'most' ? '≤' : '≥'} ${goal.limit}`,
      goal.unit,
      toVerdict(goal),
    ]),
  );
}
