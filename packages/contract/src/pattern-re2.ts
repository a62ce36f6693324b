const SPACE =
  '\\t\\n\\v\\f\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}';

/** Tokens that the two languages write, or mean, differently; null where RE2 cannot say it. */
const OUTSIDE_CLASS = new Map<string, string | null>([
  ['.', '[^\\n\\r\\x{2028}\\x{2029}]'],
  ['\\s', `[${SPACE}]`],
  ['\\S', `[^${SPACE}]`],
  ['$', '\\z'],
  ['^', '\\A'],
  ['{', '\\{'],
  ['}', '\\}'],
  [']', '\\]'],
  ['(', '(?:'],
  ['[]', null],
  ['[^]', '(?s:.)'],
]);
const INSIDE_CLASS = new Map<string, string | null>([
  ['[', '\\['],
  ['\\b', '\\x08'],
  ['\\s', SPACE],
  ['\\S', null],
]);
const CLASS_TOKEN = /\\(?:u\{[0-9a-f]+\}|u[0-9a-f]{4}|x[0-9a-f]{2}|p\{[^}]*\}|c[a-z]|\d+|.)|./gisu;
const KEPT_ESCAPE = /^\\(?:[dDwWbBnrtfv]|x[0-9a-fA-F]{2}|[pP]\{[^}]*\})$/;

/** Writes one token of an ECMAScript regular expression in the syntax of RE2, or null where RE2 has nothing equal. */
export function toRe2Token(token: string): string | null {
  const special = OUTSIDE_CLASS.get(token);
  if (special !== undefined) return special;
  if (token.startsWith('(?')) return toRe2Group(token);
  if (token.startsWith('[')) return toRe2Class(token);
  return token.startsWith('\\') ? toRe2Escape(token) : token;
}

function toRe2Group(token: string): string | null {
  return /^\(\?(?::|<[^=!])/.test(token) ? '(?:' : null;
}

function toRe2Class(token: string): string | null {
  const negated = token.startsWith('[^');
  let text = negated ? '[^' : '[';
  for (const [part] of token.slice(text.length, -1).matchAll(CLASS_TOKEN)) {
    const special = INSIDE_CLASS.get(part);
    const translated = special !== undefined ? special : part.startsWith('\\') ? toRe2Escape(part) : part;
    if (translated === null) return null;
    text += translated;
  }
  return `${text}]`;
}

function toRe2Escape(token: string): string | null {
  if (KEPT_ESCAPE.test(token)) return token;
  const hex = /^\\u\{?([0-9a-f]+)\}?$/i.exec(token)?.[1];
  if (hex !== undefined) return /^0*d[89a-f]/i.test(hex) ? null : `\\x{${hex}}`;
  if (token === '\\0') return '\\x00';
  if (/^\\(?:[0-9]|c[a-z]|k<)/i.test(token)) return null;
  const character = token.slice(1);
  // An escaped letter without a meaning is the letter itself; escaped punctuation keeps its escape.
  return /^[\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e]$/.test(character) ? token : character;
}
