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
const DISTANCE_MIN = 2;
/** A third of a key may be wrong: beyond that, any key would be near a short one. */
const LETTERS_PER_EDIT = 3;
/** Keys that are compared letter by letter for one that is not there: anyone may ask for one. */
const COMPARED_MAX = 1_000;

/** The letters of a key as bits: an edit changes at most two of them, so unlike keys are told apart at once. */
function toLetters(key: string): number {
  let bits = 0;
  for (let index = 0; index < key.length; index += 1) bits |= 1 << (key.charCodeAt(index) & 31);
  return bits;
}

function countBits(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}

/** Counts the edits from one key to others; those that cannot be near, or come too late, count as far apart. */
function buildComparison(wanted: string, allowed: number): (key: string) => number {
  const letters = toLetters(wanted);
  let compared = 0;
  return (key) => {
    const unlike = Math.abs(key.length - wanted.length) > allowed || countBits(letters ^ toLetters(key)) > 2 * allowed;
    if (unlike || compared >= COMPARED_MAX) return allowed + 1;
    compared += 1;
    return distance(wanted, key, allowed);
  };
}

const beginsAlike = (wanted: string, key: string): boolean =>
  wanted.length > 2 && (key.startsWith(wanted) || wanted.startsWith(`${key}_`));

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
  const allowed = Math.min(DISTANCE_MAX, Math.max(DISTANCE_MIN, Math.ceil(wanted.length / LETTERS_PER_EDIT)));
  const near: { key: string; edits: number }[] = [];
  const edits = buildComparison(wanted, allowed);
  for (const key of keys) {
    const apart = edits(key);
    if (apart <= allowed) near.push({ key, edits: apart });
    else if (beginsAlike(wanted, key)) near.push({ key, edits: allowed });
  }
  near.sort((a, b) => a.edits - b.edits || (a.key < b.key ? -1 : 1));
  return near.slice(0, limit).map(({ key }) => key);
}
