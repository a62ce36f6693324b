import { withClient } from './database.js';

/** Setting by which Postgres keeps the time of every commit; it can only be set at its start. */
export const COMMIT_TIMES = { track_commit_timestamp: 'on' } as const;

const CLOCK_READINGS = 2_000;

/**
 * What to add to `performance.now()` for milliseconds since 1970. `Date.now()` cuts the fraction off, so the greatest of
 * many differences is right to a few µs; `performance.timeOrigin` would not follow a clock that is being adjusted.
 */
export function readClockOffset(): number {
  let offset = Number.NEGATIVE_INFINITY;
  const until = performance.now() + 2;
  for (let reading = 0; reading < CLOCK_READINGS || performance.now() < until; reading += 1) {
    offset = Math.max(offset, Date.now() - performance.now());
  }
  return offset;
}

/**
 * When the last change of each row was committed, in ms since 1970: the moment at which its commit record was made, so
 * that the wait for the disk still lies behind it. Empty where the server does not keep commit times.
 */
export async function readCommits(url: string, keys: readonly string[]): Promise<ReadonlyMap<string, number>> {
  return await withClient(url, async (client) => {
    const setting = await client.query<{ setting: string }>(
      "select setting from pg_settings where name = 'track_commit_timestamp'",
    );
    if (setting.rows[0]?.setting !== 'on') return new Map();
    const { rows } = await client.query<{ key: string; at: string }>(
      `select key, extract(epoch from pg_xact_commit_timestamp(xmin)) * 1000 as at
       from directory where key = any($1::text[])`,
      [keys],
    );
    return new Map(rows.map(({ key, at }) => [key, Number(at)]));
  });
}
