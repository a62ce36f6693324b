const BUCKETS = 1_024;

/**
 * Puts documents that score alike together, the best first, as well as 1,024 steps tell: in time that grows with their
 * number alone. Within a step they are in no order.
 * @param scores 0 or more, by the documents' numbers.
 * @param count how many of `documents` count.
 */
export function stepsByScore(documents: Int32Array, count: number, scores: Float64Array): Int32Array[] {
  let most = 0;
  for (let index = 0; index < count; index += 1) most = Math.max(most, scores[documents[index] as number] as number);
  const toBucket = (document: number): number =>
    most === 0 ? 0 : Math.floor((1 - (scores[document] as number) / most) * (BUCKETS - 1));
  const starts = new Int32Array(BUCKETS + 1);
  for (let index = 0; index < count; index += 1) {
    const after = toBucket(documents[index] as number) + 1;
    starts[after] = (starts[after] as number) + 1;
  }
  for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
    starts[bucket + 1] = (starts[bucket + 1] as number) + (starts[bucket] as number);
  }
  const ordered = new Int32Array(count);
  const ends = starts.slice(1);
  for (let index = 0; index < count; index += 1) {
    const document = documents[index] as number;
    const bucket = toBucket(document);
    ordered[starts[bucket] as number] = document;
    starts[bucket] = (starts[bucket] as number) + 1;
  }
  return [...ends].flatMap((end, bucket) => {
    const start = ends[bucket - 1] ?? 0;
    return end > start ? [ordered.subarray(start, end)] : [];
  });
}
