const LENGTH_MAX = 64;

/** A name as a key: words of camelCase apart, upper case, whatever a key cannot hold as `_`, cut after a whole word. */
export function toKey(name: string): string {
  const words = name
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1_$2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1_$2')
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '');
  const key = /^[A-Z]/.test(words) ? words : `_${words}`;
  return cut(key, LENGTH_MAX);
}

function cut(key: string, length: number): string {
  if (key.length <= length) return key;
  const end = key.lastIndexOf('_', length);
  return key.slice(0, end > length / 2 ? end : length);
}

/**
 * Keys by id, each another one. Where names come to the same key, the second in the order of the ids ends in `_2`, and so
 * on: whatever order they come in, the same keys come out.
 */
export function toKeys(named: readonly { readonly id: string; readonly name: string }[]): Map<string, string> {
  const keys = new Map<string, string>();
  const taken = new Set<string>();
  const inOrder = [...named].sort((a, b) => (a.id < b.id ? -1 : 1));
  for (const { id, name } of inOrder) {
    const key = toKey(name);
    let free = key;
    for (let number = 2; taken.has(free); number += 1) free = `${cut(key, LENGTH_MAX - 6)}_${number}`;
    taken.add(free);
    keys.set(id, free);
  }
  return keys;
}
