import { AppError } from '@rowcall/errors';
import fc from 'fast-check';
import { expect } from 'vitest';
import kept from '../testdata/property-seeds.json' with { type: 'json' };
import { type Case, RUNS, toFilled, toText } from './hostile.js';

/**
 * Checks the property of the running test: first with the seeds that found a failure of it, which are kept in
 * `testdata/property-seeds.json` by the test's name with the runs that it took, then with {@link RUNS} new cases.
 */
export function check<Values>(property: fc.IProperty<Values>): void {
  const { currentTestName } = expect.getState();
  for (const { test, seed, runs } of kept) {
    if (test === currentTestName) fc.assert(property, { seed, numRuns: runs });
  }
  fc.assert(property, RUNS);
}

/** What stands at one place of a generated template: fixed text, or the number of a hole. */
export type Piece = string | number;

/** Fixed text of a template, harmless at every place. */
export const word = fc.constantFrom('a', 'repos', 'v1', 'x-y', 'A_b.c', '~', '9', 'é', 'b c');
/** The number of a hole. */
export const hole = fc.nat({ max: 7 });
/** The content of one place. */
export const pieces = fc.array(fc.oneof(word, hole), { minLength: 1, maxLength: 3 });
/** The place as it stands in the template. */
export function toTemplate(list: readonly Piece[], args: Case): string {
  return list.map((piece) => (typeof piece === 'string' ? piece : toFilled(args, piece).source)).join('');
}

/** The place as it must read once rendered and decoded. */
export function toPlain(list: readonly Piece[], args: Case): string {
  return list.map((piece) => (typeof piece === 'string' ? piece : toText(toFilled(args, piece).value))).join('');
}

/** The code of the AppError that `run` throws, or what it returns. Any other error is a defect. */
export function attempt<T>(run: () => T): { readonly value: T } | { readonly code: string } {
  try {
    return { value: run() };
  } catch (error) {
    if (error instanceof AppError) return { code: error.code };
    throw error;
  }
}

/** Compares as JSON text: it shows a member named __proto__, and costs far less than an assertion for each run. */
export function requireEqual(actual: unknown, expected: unknown): void {
  const [found, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (found !== wanted) expect(found).toBe(wanted);
}
