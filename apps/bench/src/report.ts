import { writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { type Goal, goalsToTable, isReached } from './goals.js';

/** Writes lines for people. */
export const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

/** What the figures were measured on. */
export function describeMachine(settings: Readonly<Record<string, string>>) {
  const cores = cpus();
  return {
    at: new Date().toISOString(),
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    cpu: cores[0]?.model ?? 'unknown',
    cores: cores.length,
    /** Processes that were running or waiting on average over the last minute, before the run. */
    loadBefore: loadavg()[0] ?? Number.NaN,
    postgres: settings,
  };
}

/** How a run ends for its caller. */
export interface Conclusion {
  readonly goals: readonly Goal[];
  /** Every figure, for `--json`. */
  readonly figures: object;
  readonly jsonFile: string | undefined;
  readonly check: boolean;
}

/** Prints the goals, writes the JSON file, and gives the exit code: 1 when goals are checked and one is missed. */
export function conclude({ goals, figures, jsonFile, check }: Conclusion): number {
  if (goals.length > 0) say(`\n${goalsToTable(goals)}`);
  const judged = goals.map((goal) => ({ ...goal, reached: isReached(goal) }));
  if (jsonFile !== undefined)
    writeFileSync(jsonFile, `${JSON.stringify({ ...figures, goals: judged }, undefined, 2)}\n`);
  return check && judged.some(({ reached }) => !reached) ? 1 : 0;
}
