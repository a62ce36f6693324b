/** Edits (Levenshtein) between two texts, or more than `max` when they are further apart. */
function distance(a: string, b: string, max: number): number {
  if (Math.abs(a.length - b.length) > max) return max + 1;
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const current = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const substitution = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min((previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1, substitution));
    }
    if (Math.min(...current) > max) return max + 1;
    previous = current;
  }
  return previous[b.length] ?? max + 1;
}

const DISTANCE_MAX = 4;
const SHORT_KEY = 5;

/**
 * Keys that were probably meant by one that no row has, nearest first: few edits away, or beginning alike.
 * @param limit how many at the most.
 */
export function nearestKeys(asked: string, keys: Iterable<string>, limit: number): string[] {
  const wanted = asked
    .slice(0, 64)
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_');
  if (wanted === '' || wanted === '_') return [];
  const allowed = wanted.length <= SHORT_KEY ? 2 : DISTANCE_MAX;
  const near: { key: string; edits: number }[] = [];
  for (const key of keys) {
    const edits = distance(wanted, key, allowed);
    if (edits <= allowed) near.push({ key, edits });
    else if (wanted.length > 2 && (key.startsWith(wanted) || wanted.startsWith(`${key}_`)))
      near.push({ key, edits: allowed });
  }
  near.sort((a, b) => a.edits - b.edits || (a.key < b.key ? -1 : 1));
  return near.slice(0, limit).map(({ key }) => key);
}
