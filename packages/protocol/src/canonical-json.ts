import type { JsonValue } from './json.js';

/**
 * Writes a JSON value in its one canonical form (RFC 8785, JSON Canonicalization Scheme): no white space, members sorted by
 * UTF-16 code units, numbers and strings as ECMAScript writes them. The value must be finite and no deeper than the stack allows.
 */
export function toCanonicalJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(toCanonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${toCanonicalJson(member)}`);
  return `{${members.join(',')}}`;
}
