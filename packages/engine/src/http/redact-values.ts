/** Shorter values are too common as parts of words to be looked for. */
const SECRET_CHARACTERS_MIN = 4;
/** A piece of Base64 shorter than this occurs by chance. */
const BASE64_PIECE_MIN = 8;

/** Finds and replaces any of a fixed set of strings. */
export interface StringReplacer {
  /** The text with every occurrence replaced; the very same text when there is none. */
  replace(text: string): string;
}

/**
 * Hides the head of a secret that stands where a text was cut off: what was cut is not there to be found.
 * @param forms as {@link toSecretForms} gives them.
 */
export function hideCutSecret(text: string, forms: readonly string[], hidden: string): string {
  for (const form of forms) {
    const length = countOverlap(text.slice(1 - form.length), form);
    if (length >= SECRET_CHARACTERS_MIN) return text.slice(0, -length) + hidden;
  }
  return text;
}

/**
 * Characters of the longest end of `text`, which is shorter than `form`, with which `form` begins. Linear, as in the search
 * of Knuth, Morris and Pratt: both texts may be an upstream's.
 */
function countOverlap(text: string, form: string): number {
  const borders = new Int32Array(form.length);
  const extend = (length: number, character: string | undefined): number => {
    let kept = length;
    while (kept > 0 && form[kept] !== character) kept = borders[kept - 1] ?? 0;
    return form[kept] === character ? kept + 1 : 0;
  };
  for (let at = 1; at < form.length; at += 1) borders[at] = extend(borders[at - 1] ?? 0, form[at]);
  let length = 0;
  for (let at = 0; at < text.length; at += 1) length = extend(length, text[at]);
  return length;
}

/**
 * Every form in which a secret is likely to turn up: as it is, trimmed, JSON-escaped (once, twice, with `\/`), HTML-escaped,
 * URL-encoded, hexadecimal, Base64 (RFC 4648, both alphabets, at any alignment within a longer text), in upper and lower
 * case, and all of them reversed.
 */
export function toSecretForms(secret: string): string[] {
  const forms = new Set<string>();
  for (const plain of new Set([secret, secret.trim()])) {
    if (plain.length < SECRET_CHARACTERS_MIN) continue;
    for (const form of [...toTextForms(plain), ...toBase64Forms(plain)]) forms.add(form).add(reverse(form));
  }
  return [...forms];
}

const reverse = (text: string): string => [...text].reverse().join('');

function toTextForms(plain: string): string[] {
  const json = JSON.stringify(plain).slice(1, -1);
  const url = encodeURIComponent(plain.toWellFormed());
  const form = new URLSearchParams([['', plain]]).toString().slice(1);
  const written = [
    plain,
    json,
    json.replaceAll('/', '\\/'),
    JSON.stringify(json).slice(1, -1),
    toHtml(plain),
    url,
    form,
    encodeURIComponent(url),
    Buffer.from(plain, 'utf8').toString('hex'),
  ];
  // Host names, schemes and codings come back in lower case, and so may whole texts.
  const folded = written.flatMap((text) => [text.toLowerCase(), text.toUpperCase()]);
  const lowered = [url, form].map((text) => text.replace(/%[0-9A-F]{2}/g, (octet) => octet.toLowerCase()));
  return [...written, ...folded, ...lowered];
}

function toHtml(plain: string): string {
  return plain
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

function toBase64Forms(plain: string): string[] {
  const bytes = Buffer.from(plain, 'utf8');
  const whole = bytes.toString('base64').replace(/=+$/, '');
  const pieces = [0, 1, 2]
    .map((before) => toBase64Piece(bytes, before))
    .filter((piece) => piece.length >= BASE64_PIECE_MIN);
  const standard = [whole, ...pieces];
  return [
    ...standard,
    ...standard.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
    ...standard.map((text) => encodeURIComponent(text)),
    ...standard.map((text) => text.replaceAll('/', '\\/')),
  ];
}

/** The characters of Base64 that depend on `bytes` alone when `before` other bytes stand in front and any follow. */
function toBase64Piece(bytes: Buffer, before: number): string {
  const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
  return text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
}

/**
 * Builds a search for many strings at once (Wu and Manber 1994): it looks at the text in steps nearly as long as the
 * shortest string, so its cost does not grow with the number of strings.
 *
 * @param needles - strings of at least two characters
 */
export function buildStringReplacer(needles: readonly string[], placeholder: string): StringReplacer {
  if (needles.length === 0) return { replace: (text) => text };
  const table = buildShiftTable(needles);
  return {
    replace: (text) => {
      let at = findNext(text, 0, table);
      if (at === undefined) return text;
      const parts: string[] = [];
      let from = 0;
      while (at !== undefined) {
        parts.push(text.slice(from, at.start), placeholder);
        from = at.end;
        at = findNext(text, from, table);
      }
      return parts.join('') + text.slice(from);
    },
  };
}

interface ShiftTable {
  /** Length of the shortest needle: the width of the window. */
  readonly width: number;
  /** By hash of two characters: how far the window may move on. */
  readonly shifts: Uint8Array;
  /** By hash of the window's last two characters: needles to compare, longest first. */
  readonly candidates: ReadonlyMap<number, readonly string[]>;
}

const HASH_SIZE = 65_536;

function hash(first: number, second: number): number {
  return ((first << 8) ^ second) & (HASH_SIZE - 1);
}

function buildShiftTable(needles: readonly string[]): ShiftTable {
  const width = Math.min(255, ...needles.map((needle) => needle.length));
  const shifts = new Uint8Array(HASH_SIZE).fill(width - 1);
  const candidates = new Map<number, string[]>();
  for (const needle of needles) {
    for (let end = 1; end < width; end += 1) {
      const key = hash(needle.charCodeAt(end - 1), needle.charCodeAt(end));
      shifts[key] = Math.min(shifts[key] ?? 0, width - 1 - end);
    }
    const key = hash(needle.charCodeAt(width - 2), needle.charCodeAt(width - 1));
    const bucket = [...(candidates.get(key) ?? []), needle].sort((a, b) => b.length - a.length);
    candidates.set(key, bucket);
  }
  return { width, shifts, candidates };
}

function findNext(text: string, from: number, table: ShiftTable): { start: number; end: number } | undefined {
  const { width, shifts, candidates } = table;
  let last = from + width - 1;
  while (last < text.length) {
    const key = hash(text.charCodeAt(last - 1), text.charCodeAt(last));
    const shift = shifts[key] ?? 1;
    if (shift > 0) {
      last += shift;
      continue;
    }
    const start = last - width + 1;
    const needle = candidates.get(key)?.find((candidate) => text.startsWith(candidate, start));
    if (needle !== undefined) return { start, end: start + needle.length };
    last += 1;
  }
  return undefined;
}
