import type { Place } from './parsing.js';
import { type Hole, readHole } from './reference.js';

/** Text of a template that stands for itself. `offset` is where it begins in the text of its place. */
export interface Literal {
  readonly kind: 'literal';
  readonly text: string;
  readonly offset: number;
}

/** A piece of a scanned text. */
export type Part = Literal | Hole;

/** What a dollar turned out to be: the literal text up to and with it, and perhaps a hole behind that. */
export interface Dollar {
  readonly literal: string;
  readonly hole: Hole | undefined;
  readonly end: number;
}

/**
 * Reads the dollar at `at`. Backslashes before a dollar pair up: `\$` is a literal dollar, `\\$1` a backslash and a
 * hole. A dollar that starts no hole stands for itself.
 * @param from where the literal text before the dollar begins
 */
export function readDollar(text: string, from: number, at: number): Dollar {
  let slashes = 0;
  while (at - slashes > from && text[at - slashes - 1] === '\\') slashes += 1;
  const before = text.slice(from, at - slashes) + '\\'.repeat(slashes >> 1);
  const hole = slashes % 2 === 1 ? undefined : readHole(text, at);
  if (hole === undefined) return { literal: `${before}$`, hole, end: at + 1 };
  return { literal: before, hole, end: at + hole.source.length };
}

/** Splits `text` into literals and holes, and records the holes. `$ARGS` is reported: a text has no place for it. */
export function scan(place: Place, text: string, toOffset: (index: number) => number = same): Part[] {
  const parts: Part[] = [];
  let from = 0;
  for (let at = text.indexOf('$'); at !== -1; at = text.indexOf('$', from)) {
    const dollar = readDollar(text, from, at);
    pushLiteral(parts, dollar.literal, toOffset(from));
    if (dollar.hole !== undefined) parts.push(useTextHole(place, dollar.hole, toOffset(at)));
    from = dollar.end;
  }
  pushLiteral(parts, text.slice(from), toOffset(from));
  return parts;
}

/** Records a hole that stands in a text. @param offset where it stands in the text of the place */
export function useTextHole(place: Place, hole: Hole, offset: number): Hole {
  place.use(hole, offset);
  if (hole.reference.kind === 'all') {
    place.report(
      offset,
      '$ARGS stands only in a JSON body, unquoted, as a member or a value; write \\$ for a literal dollar',
    );
  }
  return { ...hole, offset };
}

/** Appends literal text; joins it to a literal that ends the list. */
export function pushLiteral(parts: Array<Part | { readonly kind: 'expression' }>, text: string, offset: number): void {
  if (text === '') return;
  const last = parts.at(-1);
  if (last?.kind === 'literal') parts[parts.length - 1] = { ...last, text: last.text + text } as Literal;
  else parts.push({ kind: 'literal', text, offset });
}

/** Splits scanned parts at each `separator` in their literal text; arguments never split. */
export function splitParts<P extends { readonly kind: string }>(
  parts: ReadonlyArray<P | Literal>,
  separator: string,
): Array<Array<P | Literal>> {
  let current: Array<P | Literal> = [];
  const groups = [current];
  for (const part of parts) {
    if (!isLiteral(part)) {
      current.push(part);
      continue;
    }
    let offset = part.offset;
    for (const [index, text] of part.text.split(separator).entries()) {
      if (index > 0) {
        current = [];
        groups.push(current);
      }
      if (text !== '') current.push({ kind: 'literal', text, offset });
      offset += text.length + separator.length;
    }
  }
  return groups;
}

function isLiteral(part: { readonly kind: string }): part is Literal {
  return part.kind === 'literal';
}

function same(index: number): number {
  return index;
}
