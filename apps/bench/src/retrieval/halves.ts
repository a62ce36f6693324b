import { createHash } from 'node:crypto';

/** Which questions count. */
export const HALVES = ['all', 'a', 'b'] as const;
export type Half = (typeof HALVES)[number];

/** The half that a question belongs to for good: `a` when the first byte of the SHA-256 of its id is even. */
export const halfOf = (id: string): 'a' | 'b' =>
  (createHash('sha256').update(id).digest()[0] ?? 0) % 2 === 0 ? 'a' : 'b';

/** The questions of a half, in their order. */
export const selectHalf = <Question extends { readonly id: string }>(
  questions: readonly Question[],
  half: Half,
): Question[] => questions.filter(({ id }) => half === 'all' || halfOf(id) === half);
