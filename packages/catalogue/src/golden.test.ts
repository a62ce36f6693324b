import { checkHygiene } from '@rowcall/contract';
import { rowWriteSchema } from '@rowcall/protocol';
import { describe, expect, it } from 'vitest';
import {
  buildGoldenSearch,
  type GoldenQuestion,
  kindOf,
  meanQuality,
  readGoldenQuestions,
  readGoldenRows,
  scoreKeys,
} from './testing/golden.js';

/** What the ranking reached, a little less: a change that falls below has made something worse. */
const FLOORS = [
  { kind: 'all', recallAt1: 0.74, recallAt5: 0.91, ndcgAt10: 0.86 },
  { kind: 'short', recallAt1: 0.89, recallAt5: 0.98, ndcgAt10: 0.94 },
  { kind: 'sentence', recallAt1: 0.75, recallAt5: 0.89, ndcgAt10: 0.84 },
  { kind: 'synonym', recallAt1: 0.26, recallAt5: 0.65, ndcgAt10: 0.53 },
  { kind: 'typo', recallAt1: 0.42, recallAt5: 0.71, ndcgAt10: 0.62 },
  { kind: 'several', recallAt1: 0.36, recallAt5: 0.84, ndcgAt10: 0.85 },
] as const;

const rows = readGoldenRows();
const questions = readGoldenQuestions();
const search = buildGoldenSearch(rows);
const rank = (question: string): string[] => search(question).hits.map(({ key }) => key);
const ofKind = (kind: string): GoldenQuestion[] => questions.filter((question) => kindOf(question) === kind);
const qualityOf = (asked: readonly GoldenQuestion[]) =>
  meanQuality(asked.map(({ question, relevant }) => scoreKeys(rank(question), relevant)));

describe('the golden set', () => {
  it('asks for rows that there are, each question once', () => {
    const keys = new Set(rows.map(({ key }) => key));
    expect(keys.size).toBe(rows.length);
    expect(questions.flatMap(({ relevant }) => relevant.filter((key) => !keys.has(key)))).toEqual([]);
    expect(new Set(questions.map(({ question }) => question)).size).toBe(questions.length);
    expect(new Set(questions.map(({ id }) => id)).size).toBe(questions.length);
  });

  it('has enough questions of each kind', () => {
    expect(questions.length).toBeGreaterThanOrEqual(150);
    expect(ofKind('several').filter(({ relevant }) => relevant.length >= 2).length).toBeGreaterThanOrEqual(15);
    expect(ofKind('none').filter(({ relevant }) => relevant.length === 0).length).toBeGreaterThanOrEqual(20);
  });

  it('has rows that a directory would take', () => {
    expect(rows.flatMap((row) => checkHygiene(row))).toEqual([]);
  });
});

describe('the score of a ranking', () => {
  it('counts places of what is relevant', () => {
    // Of two, the second and one that is missing: gain 1/log2(3) of 1 + 1/log2(3).
    const score = scoreKeys(['X', 'A'], ['A', 'B']);
    expect(score).toMatchObject({ recallAt1: 0, recallAt5: 0.5, ndcgAt10: expect.closeTo(0.3869, 4) });
    expect(scoreKeys(['A', 'B'], ['B', 'A'])).toEqual({ recallAt1: 0.5, recallAt5: 1, ndcgAt10: 1 });
  });
});

describe('finding a row', () => {
  it.each(FLOORS)('is at least this good for $kind questions', ({ kind, recallAt1, recallAt5, ndcgAt10 }) => {
    const asked = kind === 'all' ? questions.filter(({ relevant }) => relevant.length > 0) : ofKind(kind);
    const quality = qualityOf(asked);
    expect(quality.recallAt1).toBeGreaterThanOrEqual(recallAt1);
    expect(quality.recallAt5).toBeGreaterThanOrEqual(recallAt5);
    expect(quality.ndcgAt10).toBeGreaterThanOrEqual(ndcgAt10);
  });

  it('says that nothing fits to most questions that nothing answers, and to few others', () => {
    const answered = (kind: string): number => {
      const asked = ofKind(kind);
      return asked.filter(({ question }) => search(question).fits).length / asked.length;
    };
    expect(answered('none')).toBeLessThanOrEqual(0.42);
    expect(answered('short')).toBeGreaterThanOrEqual(0.95);
    expect(answered('sentence')).toBeGreaterThanOrEqual(0.9);
    expect(answered('several')).toBe(1);
  });

  it('answers the steps of most questions for several rows', () => {
    const asked = ofKind('several');
    const found = asked.filter(({ question }) => search(question).steps.length > 1);
    expect(found.length / asked.length).toBeGreaterThanOrEqual(0.5);
  });

  it('answers "what time is it" with NOW, and with no row that only shares two letters with it', () => {
    expect(rank('what time is it')[0]).toBe('NOW');
    const seed = rows.filter(({ source }) => source === 'manual');
    const items = { key: 'LIST_ITEMS', type: 'http', content: '# WHAT: Writes down items that visit a site.' };
    const found = buildGoldenSearch([...seed, rowWriteSchema.parse(items)])('what time is it');
    const keys = found.hits.map(({ key }) => key);
    expect(keys[0]).toBe('NOW');
    expect(['LIST_ITEMS', 'SPLIT', 'TRIM'].filter((key) => keys.includes(key))).toEqual([]);
  });

  it('ranks sharing an invoice with a customer above sharing the customer', () => {
    expect(rank('share an invoice with a customer').slice(0, 2)).toEqual(['SHARE_INVOICE', 'SHARE_CUSTOMER']);
  });
});
