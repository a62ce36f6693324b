import type { Place } from './parsing.js';
import { type Part, pushLiteral, readDollar, useTextHole } from './scan.js';
import { type Expression, parseExpression } from './uri-template.js';

/** A piece of a URL template: text, a `$` hole, or an RFC 6570 expression. */
export type UrlPart = Part | Expression;

const SPECIAL = /[${}]/g;

/** Splits the URL, which begins at `start` of the place's text, into parts; records holes and reports faults. */
export function scanTarget(place: Place, start: number): UrlPart[] {
  const { text } = place;
  const parts: UrlPart[] = [];
  let from = start;
  for (let at = indexOfSpecial(text, from); at !== -1; at = indexOfSpecial(text, from)) {
    if (text[at] === '$') {
      from = scanDollar(place, parts, from, at);
      continue;
    }
    pushLiteral(parts, text.slice(from, at), from);
    from = scanExpression(place, parts, at);
  }
  pushLiteral(parts, text.slice(from), from);
  return parts;
}

function indexOfSpecial(text: string, from: number): number {
  SPECIAL.lastIndex = from;
  return SPECIAL.exec(text)?.index ?? -1;
}

function scanDollar(place: Place, parts: UrlPart[], from: number, at: number): number {
  const dollar = readDollar(place.text, from, at);
  pushLiteral(parts, dollar.literal, from);
  if (dollar.hole !== undefined) parts.push(useTextHole(place, dollar.hole, at));
  return dollar.end;
}

function scanExpression(place: Place, parts: UrlPart[], at: number): number {
  const end = place.text[at] === '{' ? place.text.indexOf('}', at) : -1;
  if (end === -1) {
    place.report(at, 'the brace has no partner; write %7B or %7D for a literal one');
    return place.text.length;
  }
  const expression = parseExpression(place.text.slice(at, end + 1), at);
  if (typeof expression === 'string') {
    place.report(at, expression);
    return end + 1;
  }
  for (const variable of expression.variables) place.useName(variable.name, at);
  parts.push(expression);
  return end + 1;
}
