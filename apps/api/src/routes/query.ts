import { z } from 'zod';

/** A text that is looked for. What no text column can hold is in none. */
export const queryText = (lengthMax: number) =>
  z
    .string()
    .min(1)
    .max(lengthMax)
    .refine((value) => !value.includes('\0'), 'must not contain U+0000');

/** A moment (RFC 3339), as ms since 1970. */
export const moment = z.iso
  .datetime({ offset: true, error: 'must be a time such as 2026-01-31T12:00:00Z (RFC 3339)' })
  .transform((value) => Date.parse(value));

/** Tells whether `from` is before `to`, where both are given. */
export const isForward = ({ from, to }: { from?: number | undefined; to?: number | undefined }): boolean =>
  from === undefined || to === undefined || from < to;

/** What a query is told that is not {@link isForward}. */
export const NOT_FORWARD = { path: ['to'], error: 'must be later than from' };

/** The parameter by which a grant's token may be presented. */
export const shareParam = z.string().max(256).optional().meta({ description: 'Token of a grant.' });

/**
 * Cuts what was read to be one page.
 * @param found one more than `limit`, where there are more.
 * @returns the page, and its last item when another page follows.
 */
export function cutPage<Item>(found: readonly Item[], limit: number): { page: Item[]; last: Item | undefined } {
  const page = found.slice(0, limit);
  return { page, last: found.length > limit ? page.at(-1) : undefined };
}
