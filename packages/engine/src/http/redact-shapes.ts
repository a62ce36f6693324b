import { isMeasureName, isSecretName } from './redact-names.js';

/** What stands in place of a secret. */
export const REDACTED = '[redacted]';

interface Shape {
  /** Without this the pattern cannot match: a plain search is many times cheaper. */
  readonly needs: readonly string[];
  /** Linear: whatever follows an unbounded run starts at a boundary, so no run is read twice. */
  readonly pattern: RegExp;
  /** Narrows what the pattern found. */
  readonly isSecret?: (match: string) => boolean;
  readonly replacement?: string;
}

const hasDigit = (text: string): boolean => /\d/.test(text);

const SHAPES: readonly Shape[] = [
  { needs: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], pattern: /gh[pousr]_[A-Za-z0-9]{20,}/g },
  { needs: ['github_pat_'], pattern: /github_pat_[A-Za-z0-9_]{20,}/g },
  { needs: ['glpat-'], pattern: /glpat-[A-Za-z0-9_-]{16,}/g },
  { needs: ['npm_'], pattern: /npm_[A-Za-z0-9]{36,}/g },
  { needs: ['sk-'], pattern: /(?<![A-Za-z0-9_-])sk-[A-Za-z0-9_-]{16,}/g, isSecret: hasDigit },
  { needs: ['k_live_', 'k_test_', 'whsec_'], pattern: /(?:[rs]k_(?:live|test)|whsec)_[A-Za-z0-9+/=]{16,}/g },
  { needs: ['xox'], pattern: /xox[a-z]-[A-Za-z0-9-]{10,}/g },
  { needs: ['xapp-'], pattern: /xapp-[A-Za-z0-9-]{10,}/g },
  { needs: ['AKIA', 'ASIA'], pattern: /(?<![A-Za-z0-9])A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])/g },
  { needs: ['AIza'], pattern: /AIza[A-Za-z0-9_-]{35}/g },
  { needs: ['eyJ'], pattern: /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){1,3}/g },
  { needs: ['sh.'], pattern: /(?<![A-Za-z0-9_.-])sh\.[A-Za-z0-9_-]{20,}/g },
  {
    needs: ['earer ', 'asic '],
    pattern: /(?<![A-Za-z0-9])(?:[Bb]earer|[Bb]asic) {1,4}[A-Za-z0-9._~+/=-]{12,}/g,
    isSecret: (match) => /[\d=_]|[a-z][A-Z]/.test(match.slice(7)),
    replacement: REDACTED,
  },
  {
    // The password of a URL: scheme://user:password@host.
    needs: ['://'],
    pattern: /(?<=:\/\/[^\s/:@"'<>]{0,128}:)[^\s/@"'<>]{1,256}(?=@)/g,
  },
];

/** Replaces secrets of well-known shapes: API keys, JSON Web Tokens, grant tokens, private keys, passwords in URLs. */
export function redactShapes(text: string): string {
  let result = redactPrivateKeys(text);
  for (const { needs, pattern, isSecret, replacement = REDACTED } of SHAPES) {
    if (!needs.some((part) => result.includes(part))) continue;
    result = result.replace(pattern, (match) => (isSecret === undefined || isSecret(match) ? replacement : match));
  }
  return redactPairs(result);
}

const KEY_BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const KEY_END = 'PRIVATE KEY';

/** By hand instead of by pattern: many beginnings without an end would make a pattern quadratic. */
function redactPrivateKeys(text: string): string {
  if (!text.includes('PRIVATE KEY')) return text;
  const parts: string[] = [];
  let from = 0;
  for (const begin of text.matchAll(KEY_BEGIN)) {
    if (begin.index < from) continue;
    parts.push(text.slice(from, begin.index), REDACTED);
    from = findKeyEnd(text, begin.index + begin[0].length);
  }
  return parts.length === 0 ? text : parts.join('') + text.slice(from);
}

/** A key without an end was cut: all that follows belongs to it. */
function findKeyEnd(text: string, from: number): number {
  const end = text.indexOf('-----END', from);
  const name = end === -1 ? -1 : text.indexOf(KEY_END, end);
  const dashes = name === -1 ? -1 : text.indexOf('-----', name);
  return dashes === -1 ? text.length : dashes + '-----'.length;
}

/** Cheap to look for; every pair below holds one. */
const PAIR_HINT = /token|secret|passw|passphrase|api[-_]?key|authorization|cookie|credential|[-_]key/i;
/** `name=value` of a query, form or environment file. */
const ASSIGNMENT = /(?<=(?:^|[?&;\s"'])([A-Za-z][\w.-]{1,63})=)[^\s&;"'<>]+/g;
/** `"name": "value"` of a JSON text. */
const JSON_MEMBER = /("([\w.-]{3,64})"\s{0,4}:\s{0,4}")((?:[^"\\]+|\\.)+)/gs;
/** The same inside a JSON string, where each quote has a backslash, and a quote within the value three. */
const NESTED_JSON_MEMBER = /(\\"([\w.-]{3,64})\\"\s{0,4}:\s{0,4}\\")((?:[^"\\]+|\\{3}"|\\[^"])+)/g;
/** A header line. */
const HEADER_LINE =
  /(?<=^((?:proxy-)?authorization|(?:set-)?cookie|x-[a-z-]{0,40}(?:key|token|secret)):[ \t]{0,4})[^\s][^\r\n]*/gim;

/** Replaces values that a name beside them calls a secret, in texts of other forms than a JSON value. */
function redactPairs(text: string): string {
  if (!PAIR_HINT.test(text)) return text;
  const replaceMember = (all: string, head: string, name: string, value: string): string =>
    isSecretPair(name, value) ? head + REDACTED : all;
  return text
    .replace(ASSIGNMENT, (value, name: string) => (isSecretPair(name, value) ? REDACTED : value))
    .replace(JSON_MEMBER, replaceMember)
    .replace(NESTED_JSON_MEMBER, replaceMember)
    .replace(HEADER_LINE, REDACTED);
}

function isSecretPair(name: string, value: string): boolean {
  return isSecretName(name) && !(isMeasureName(name) && /^[\d.]+$/.test(value));
}
