/** What a hole in a template stands for. */
export type Reference =
  | { readonly kind: 'position'; readonly position: number }
  | { readonly kind: 'rest'; readonly from: number }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'previous'; readonly path: readonly PathStep[] }
  | { readonly kind: 'all' };

/** One step of a path: a member's name, or an element's index. */
export type PathStep = string | number;

/** A place in a template that an argument fills. */
export interface Hole {
  readonly kind: 'hole';
  readonly reference: Reference;
  /** Written with `$$`: where escaping is the author's choice, not to be escaped. */
  readonly raw: boolean;
  /** As written; stands in messages, and in the output when a name is unknown. */
  readonly source: string;
  readonly offset: number;
}

const POSITION = /([1-9][0-9]*)(\+?)/y;
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
const BRACED_NAME = /[A-Za-z_][A-Za-z0-9_-]*/y;
// The bound on quoted names keeps reading linear when quotes never close.
const STEP = /\.([A-Za-z_][A-Za-z0-9_]*)|\[([0-9]{1,9})\]|\["([^"\n]{0,128})"\]|\['([^'\n]{0,128})'\]/y;

interface Read {
  readonly reference: Reference;
  readonly end: number;
}

/**
 * Reads the hole that starts with the dollar at `offset`.
 *
 * ```
 * hole      = "$" [ "$" ] ( reference | "{" reference "}" )
 * reference = number [ "+" ] | "PREV" { "." name | "[" index "]" | "[" quoted "]" } | "ARGS" | name
 * ```
 * In braces a name may also hold `-`.
 * @returns undefined when that dollar starts no hole: it is then an ordinary character.
 */
export function readHole(text: string, offset: number): Hole | undefined {
  const raw = text[offset + 1] === '$';
  const start = offset + (raw ? 2 : 1);
  const read = text[start] === '{' ? readBraced(text, start + 1) : readReference(text, start, NAME);
  if (read === undefined) return undefined;
  return { kind: 'hole', reference: read.reference, raw, source: text.slice(offset, read.end), offset };
}

function readBraced(text: string, start: number): Read | undefined {
  const read = readReference(text, start, BRACED_NAME);
  return read !== undefined && text[read.end] === '}' ? { ...read, end: read.end + 1 } : undefined;
}

function readReference(text: string, start: number, namePattern: RegExp): Read | undefined {
  const position = matchAt(POSITION, text, start);
  if (position !== null) {
    const value = Number(position[1]);
    const reference: Reference =
      position[2] === '+' ? { kind: 'rest', from: value } : { kind: 'position', position: value };
    return { reference, end: start + position[0].length };
  }
  const name = matchAt(namePattern, text, start)?.[0];
  if (name === undefined) return undefined;
  const end = start + name.length;
  if (name === 'PREV') return readPath(text, end);
  return { reference: name === 'ARGS' ? { kind: 'all' } : { kind: 'name', name }, end };
}

function readPath(text: string, start: number): Read {
  const path: PathStep[] = [];
  let end = start;
  for (let step = matchAt(STEP, text, end); step !== null; step = matchAt(STEP, text, end)) {
    path.push(step[2] === undefined ? (step[1] ?? step[3] ?? step[4] ?? '') : Number(step[2]));
    end += step[0].length;
  }
  return { reference: { kind: 'previous', path }, end };
}

function matchAt(sticky: RegExp, text: string, at: number): RegExpExecArray | null {
  sticky.lastIndex = at;
  return sticky.exec(text);
}
