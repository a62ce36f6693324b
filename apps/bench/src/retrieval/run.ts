import { writeFileSync } from 'node:fs';
import { watchOthersThan } from '../others.js';
import { conclude, describeMachine, say } from '../report.js';
import { toNumber } from '../table.js';
import { type Removal, removeHalf, toAbstaining } from './abstain.js';
import { type Question, readDataSet } from './data.js';
import { selectHalf } from './halves.js';
import { measure, type Run } from './measure.js';
import { scoreRanking, summarise } from './metrics.js';
import { parseRetrievalOptions } from './options.js';
import type { Ranked } from './ranking.js';
import { type ToolRows, toToolRows } from './rows.js';
import { retrievalToText, type SystemFigures, toRetrievalGoals } from './summary.js';
import { SYSTEMS, type SystemName } from './systems.js';

const NOTHING_REMOVED: Removal = { removed: new Set(), answerable: new Map() };

const toIds = ({ keys }: Ranked, { ids }: ToolRows): string[] => keys.map((key) => ids.get(key) ?? key);

function score({ answers }: Run, questions: readonly Question[], tools: ToolRows) {
  const scored = questions.map(({ set, relevant }, index) => {
    const ranked = toIds(answers[index]?.ranked ?? { keys: [] }, tools);
    return { set, scores: scoreRanking(ranked, new Set(relevant)) };
  });
  return summarise(scored);
}

function writeRanking(file: string, { answers }: Run, tools: ToolRows): void {
  const lines = answers.map(({ id, ranked }) => JSON.stringify({ query_id: id, ranked: toIds(ranked, tools) }));
  writeFileSync(file, `${lines.join('\n')}\n`);
}

/** `bench retrieval`: how well questions find their rows, the product beside other ways to search. */
export async function runRetrieval(args: readonly string[]): Promise<number> {
  const options = parseRetrievalOptions(args);
  const { dataDir, systems, half, abstain, seed, rankingFile, jsonFile, check } = options;
  const data = readDataSet(dataDir);
  const tools = toToolRows(data.tools);
  const questions = selectHalf(data.questions, half);
  const removal = abstain ? removeHalf(questions, seed) : NOTHING_REMOVED;
  const rows = tools.rows.filter(({ key }) => !removal.removed.has(tools.ids.get(key) ?? ''));
  const machine = describeMachine({});
  const othersSince = watchOthersThan([process.pid]);
  const toFigures = (system: SystemName): SystemFigures => {
    const { answers, ...taken } = measure(SYSTEMS[system], rows, questions);
    const run = { answers, ...taken };
    if (rankingFile !== undefined) writeRanking(rankingFile, run, tools);
    return abstain
      ? { system, ...taken, sets: [], abstaining: toAbstaining(answers, removal.answerable) }
      : { system, ...taken, sets: score(run, questions, tools), abstaining: undefined };
  };
  const figures = systems.map(toFigures);
  const othersCores = othersSince();
  say(`${rows.length} rows, ${questions.length} questions (half: ${half})\n`);
  say(retrievalToText(figures));
  say(`\nother processes took ${toNumber(othersCores)} of ${machine.cores} cores meanwhile`);
  return conclude({
    goals: toRetrievalGoals(figures),
    figures: { bench: 'retrieval', machine, rows: rows.length, half, seed, othersCores, systems: figures },
    jsonFile,
    check,
  });
}
