import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type Row, type RowWrite, rowWriteSchema } from '@rowcall/protocol';
import { type Ranking, Resolver } from '@rowcall/resolver';
import { toCapabilityDocument } from '../capability-document.js';

const SEED = path.resolve(import.meta.dirname, '../../../../db/seed/rows.json');
const GOLDEN = path.resolve(import.meta.dirname, '../testdata/golden');
const AT = '2026-01-01T00:00:00.000Z';

/** A question, and every row that answers it; none where nothing does. */
export interface GoldenQuestion {
  /** Its kind, a dash and a number. */
  readonly id: string;
  readonly question: string;
  readonly relevant: readonly string[];
}

function readLines<T>(name: string): T[] {
  const lines = readFileSync(path.join(GOLDEN, name), 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as T);
}

/** Rows of the seed, and rows such as an import makes. */
export const readGoldenRows = (): RowWrite[] =>
  [...(JSON.parse(readFileSync(SEED, 'utf8')) as object[]), ...readLines<object>('rows.jsonl')].map((row) =>
    rowWriteSchema.parse(row),
  );

/** The questions, in the order of the file. */
export const readGoldenQuestions = (): GoldenQuestion[] => readLines<GoldenQuestion>('questions.jsonl');

/** The kind of a question. */
export const kindOf = ({ id }: GoldenQuestion): string => id.slice(0, id.lastIndexOf('-'));

/** Searches the rows in the way that the catalogue does. */
export function buildGoldenSearch(rows: readonly RowWrite[]): (question: string) => Ranking {
  const resolver = new Resolver();
  for (const row of rows) {
    const stored: Row = { ...row, version: 1, created_at: AT, updated_at: AT };
    resolver.upsert(toCapabilityDocument(stored));
  }
  return (question) => resolver.search(question, { limit: 12 });
}

/** How good rankings are, means over questions, 0 to 1. */
export interface Quality {
  readonly recallAt1: number;
  readonly recallAt5: number;
  readonly ndcgAt10: number;
}

const gainAt = (index: number): number => 1 / Math.log2(index + 2);

/** Scores one ranking; relevance is binary. @param relevant at least one. */
export function scoreKeys(ranked: readonly string[], relevant: readonly string[]): Quality {
  const found = ranked.slice(0, 10).map((key) => relevant.includes(key));
  const recall = (k: number) => found.slice(0, k).filter(Boolean).length / relevant.length;
  const gain = found.reduce((sum, isRelevant, index) => sum + (isRelevant ? gainAt(index) : 0), 0);
  const ideal = relevant.slice(0, 10).reduce((sum, _, index) => sum + gainAt(index), 0);
  return { recallAt1: recall(1), recallAt5: recall(5), ndcgAt10: gain / ideal };
}

/** Means of all. */
export function meanQuality(all: readonly Quality[]): Quality {
  const mean = (read: (quality: Quality) => number) => all.reduce((sum, one) => sum + read(one), 0) / all.length;
  return {
    recallAt1: mean(({ recallAt1 }) => recallAt1),
    recallAt5: mean(({ recallAt5 }) => recallAt5),
    ndcgAt10: mean(({ ndcgAt10 }) => ndcgAt10),
  };
}
