/** What many measurements of one thing come to; the machine is shared, so the middle counts and the ends are shown. */
export interface Spread {
  readonly min: number;
  readonly median: number;
  readonly max: number;
}

/** The value below which the share `quantile` (0 to 1) of the values lies: nearest rank, no interpolation. NaN for none. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  const rank = Math.max(0, Math.ceil(share * sorted.length) - 1);
  return sorted[rank] ?? Number.NaN;
}

/** Least, middle and greatest of the values. The median of an even count is the mean of the middle two. */
export function toSpread(values: readonly number[]): Spread {
  const sorted = Float64Array.from(values).sort();
  const half = sorted.length >> 1;
  const upper = sorted[half] ?? Number.NaN;
  const lower = sorted.length % 2 === 0 ? (sorted[half - 1] ?? Number.NaN) : upper;
  return { min: sorted[0] ?? Number.NaN, median: (lower + upper) / 2, max: sorted.at(-1) ?? Number.NaN };
}

/** Latencies, in ms, of many requests. */
export interface Latency {
  readonly count: number;
  readonly minMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** Sums latencies up. Exact: every value counts. */
export function toLatency(valuesMs: ArrayLike<number>): Latency {
  const sorted = Float64Array.from(valuesMs).sort();
  return {
    count: sorted.length,
    minMs: quantile(sorted, 0),
    p50Ms: quantile(sorted, 0.5),
    p99Ms: quantile(sorted, 0.99),
    maxMs: quantile(sorted, 1),
  };
}
