import { toCapabilityDocument } from '@rowcall/catalogue';
import { Resolver } from '@rowcall/resolver';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeAskRow } from '../ask/rows.js';
import { newChance } from '../chance.js';
import { toRanking } from '../retrieval/ranking.js';
import { makeHostileQuestion, WORST_QUESTIONS } from './hostile-questions.js';

const given = process.env.ROWCALL_PROPERTY_RUNS;
/** 2,000 questions, the same ones each time; or so many new ones as `ROWCALL_PROPERTY_RUNS` says. */
const RUNS = given === undefined ? 2_000 : Number(given);
const SEED = given === undefined ? 20_261_201 : Date.now();
/** No measure of how fast they are: only an end for a run that hangs. */
const TIMEOUT_MS = 60_000 + RUNS * 50;
const ROWS = 1_000;
const LIMIT = 12;

const toDocument = (index: number, revision = 0) =>
  toCapabilityDocument({ ...makeAskRow(index, revision), version: 1, created_at: '', updated_at: '' });

const resolver = new Resolver();
beforeAll(() => {
  for (let index = 0; index < ROWS; index += 1) resolver.upsert(toDocument(index));
});

/** What any answer must keep to, whatever the question. */
function requireSound(question: string, filter?: (key: string) => boolean): void {
  const found = resolver.search(question, { limit: LIMIT, ...(filter === undefined ? {} : { filter }) });
  const { keys, confidence = 0 } = toRanking(found);
  const scores = ('hits' in found ? (found.hits as { score: number }[]) : found).map(({ score }) => score);
  const isSound =
    keys.length <= LIMIT &&
    new Set(keys).size === keys.length &&
    keys.every((key) => filter?.(key) ?? true) &&
    scores.every((score) => Number.isFinite(score)) &&
    confidence >= 0 &&
    confidence <= 1;
  if (!isSound) throw new Error(`seed ${SEED}: ${JSON.stringify(question.slice(0, 1_000))} finds ${keys.join(', ')}`);
}

describe('hostile questions', () => {
  it('come of every kind', () => {
    const chance = newChance(SEED);
    const questions = Array.from({ length: 1_000 }, () => makeHostileQuestion(chance));
    expect(Math.max(...questions.map(({ length }) => length))).toBeGreaterThanOrEqual(1_000_000);
    expect(questions.some((question) => !question.isWellFormed())).toBe(true);
    expect(questions.some((question) => /\p{Co}|\p{Cn}/u.test(question))).toBe(true);
    expect(questions.some((question) => question.includes('\0'))).toBe(true);
  });

  it.each(WORST_QUESTIONS.map((question) => [question]))(
    'of the longest kind are answered soundly: number %#',
    (question) => expect(() => requireSound(question)).not.toThrow(),
  );

  it(
    'are answered soundly while rows change, whatever may be seen',
    () => {
      const chance = newChance(SEED);
      const filters = [undefined, undefined, (key: string) => key.endsWith('7'), () => false];
      for (let run = 0; run < RUNS; run += 1) {
        const index = Math.floor(chance() * ROWS);
        if (run % 3 === 0) resolver.remove(toDocument(index).key);
        else resolver.upsert(toDocument(index, run));
        requireSound(makeHostileQuestion(chance), filters[run % filters.length]);
      }
    },
    TIMEOUT_MS,
  );
});
