import { type Origin, parseOrigin } from './origin.js';
import type { Place } from './parsing.js';
import { encodeReserved, hasDotSegment } from './percent.js';
import { type Literal, splitParts } from './scan.js';
import { scanTarget, type UrlPart } from './target-scan.js';
import type { Expression } from './uri-template.js';

/** A piece of a path: encoded text with its slashes, or a segment that arguments fill. */
export type PathPiece = { readonly kind: 'literal'; readonly text: string } | PathSegment;

/** The parts between two slashes of the template. */
export interface PathSegment {
  readonly kind: 'segment';
  readonly parts: readonly UrlPart[];
  /** Whether it could render to a dot segment: it does not begin with a fixed ordinary character. */
  readonly mayBeDots: boolean;
}

/** A compiled `target`. Literal text in it is percent-encoded already. */
export interface TargetTemplate {
  readonly method: string;
  readonly origin: Origin;
  readonly path: readonly PathPiece[];
  readonly query: readonly UrlPart[];
  /** The path ends the target in a `$$` hole or `{+x}`: there, and only there, a value may go on with a query. */
  readonly openEnd: boolean;
}

const METHOD = /^[A-Z]+(?:-[A-Z]+)*$/;
const METHODS_REFUSED = ['CONNECT', 'TRACE', 'TRACK'];
const NOT_IN_URL = /[\p{Cc}\\]/u;

/** Compiles `METHOD URL`; without a method, GET. @returns undefined after reporting faults */
export function parseTarget(place: Place, allowedHosts: readonly string[]): TargetTemplate | undefined {
  const { method, urlStart } = splitMethod(place);
  const parts = scanTarget(place, urlStart);
  for (const part of parts) if (part.kind === 'literal') checkLiteral(place, part);
  const split = parseOrigin(place, parts, allowedHosts);
  if (split === undefined) return undefined;
  const { path, query } = splitPlaces(place, split.rest);
  const last = path.at(-1);
  const openEnd = query === null && last !== undefined && isReserved(last);
  return {
    method,
    origin: split.origin,
    path: toPieces(place, path),
    query: (query ?? []).map(encodeLiteral),
    openEnd,
  };
}

function splitMethod(place: Place): { method: string; urlStart: number } {
  const match = /^([A-Za-z-]+)[ \t]+/.exec(place.text);
  if (match === null) return { method: 'GET', urlStart: 0 };
  const method = match[1] ?? '';
  if (!METHOD.test(method)) place.report(0, `write the method in upper case: ${method.toUpperCase()}`);
  if (METHODS_REFUSED.includes(method)) place.report(0, `the method ${method} cannot be sent; use another one`);
  return { method, urlStart: match[0].length };
}

function checkLiteral(place: Place, literal: Literal): void {
  const at = NOT_IN_URL.exec(literal.text)?.index;
  if (at !== undefined)
    place.report(literal.offset + at, 'a URL holds no backslash and no control character; percent-encode it');
  if (!literal.text.isWellFormed()) place.report(literal.offset, 'the URL holds half of a surrogate pair');
}

interface Places {
  readonly path: readonly UrlPart[];
  /** null: the template begins no query. */
  readonly query: readonly UrlPart[] | null;
}

/** Tells path, query and fragment apart. The fragment is dropped: it is never sent. */
function splitPlaces(place: Place, parts: readonly UrlPart[]): Places {
  const sent = splitParts(untilFragmentExpression(parts), '#')[0] ?? [];
  const path: UrlPart[] = [];
  let query: UrlPart[] | null = null;
  for (const part of sent) {
    const mark: number = query === null && part.kind === 'literal' ? part.text.indexOf('?') : -1;
    if (part.kind === 'literal' && mark !== -1) {
      path.push({ ...part, text: part.text.slice(0, mark) });
      query = [{ ...part, text: part.text.slice(mark + 1), offset: part.offset + mark + 1 }];
      continue;
    }
    if (part.kind === 'expression') {
      checkQueryOperator(place, part, query !== null);
      if (part.operator === '?') query ??= [];
    }
    (query ?? path).push(part);
  }
  return { path: path.filter(isNotEmpty), query: query?.filter(isNotEmpty) ?? null };
}

function untilFragmentExpression(parts: readonly UrlPart[]): readonly UrlPart[] {
  const at = parts.findIndex((part) => part.kind === 'expression' && part.operator === '#');
  return at === -1 ? parts : parts.slice(0, at);
}

function checkQueryOperator(place: Place, { operator, offset, source }: Expression, inQuery: boolean): void {
  if (operator === '?' && inQuery) place.report(offset, `the query has begun; write {&${source.slice(2)}`);
  if (operator === '&' && !inQuery) place.report(offset, `the query has not begun; write {?${source.slice(2)}`);
}

function toPieces(place: Place, path: readonly UrlPart[]): PathPiece[] {
  const pieces: PathPiece[] = [];
  for (const [index, parts] of splitParts<UrlPart>(path, '/').entries()) {
    const encoded = parts.map(encodeLiteral);
    const fixed = encoded.map((part) => (part.kind === 'literal' ? part.text : null));
    if (index > 0) pushText(pieces, '/');
    if (fixed.includes(null)) {
      pieces.push({
        kind: 'segment',
        parts: encoded,
        mayBeDots: !/^[^.%;]/.test(fixed[0] ?? '') || parts.some(isMany),
      });
      continue;
    }
    const text = fixed.join('');
    if (hasDotSegment(text)) place.report(parts[0]?.offset ?? 0, 'write the path without the segments . and ..');
    pushText(pieces, text);
  }
  return pieces;
}

function pushText(pieces: PathPiece[], text: string): void {
  const last = pieces.at(-1);
  if (last?.kind === 'literal') pieces[pieces.length - 1] = { kind: 'literal', text: last.text + text };
  else if (text !== '') pieces.push({ kind: 'literal', text });
}

/** Tells whether the part may bring slashes of its own. */
function isMany(part: UrlPart): boolean {
  return isReserved(part) || (part.kind === 'expression' && part.operator === '/');
}

/** Tells whether reserved characters of the value stay as they are. */
function isReserved(part: UrlPart): boolean {
  return part.kind === 'hole' ? part.raw : part.kind === 'expression' && part.operator === '+';
}

function encodeLiteral(part: UrlPart): UrlPart {
  return part.kind === 'literal' ? { ...part, text: encodeReserved(part.text.toWellFormed()) } : part;
}

function isNotEmpty(part: UrlPart): boolean {
  return part.kind !== 'literal' || part.text !== '';
}
