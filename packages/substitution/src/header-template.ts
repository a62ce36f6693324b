import type { Parsing, Place } from './parsing.js';
import { badValue, type Rendering } from './rendering.js';
import { type Part, scan } from './scan.js';

/** A compiled request header. */
export interface HeaderTemplate {
  readonly name: string;
  readonly parts: readonly Part[];
}

/** A field name is a token (RFC 9110, 5.1). */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** Fields that frame the message or belong to one connection (RFC 9110, 7.6.1): the client of the call sets them. */
const NAMES_REFUSED = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const NOT_IN_VALUE = /[^\t\x20-\x7e\x80-\xff]/;

/** Compiles the row's headers; reports names that may not be sent and repeated names. */
export function parseHeaders(parsing: Parsing, headers: Readonly<Record<string, string>>): HeaderTemplate[] {
  const seen = new Set<string>();
  const templates: HeaderTemplate[] = [];
  for (const [name, text] of Object.entries(headers)) {
    const place = parsing.open(`headers.${name.slice(0, 256)}`, text);
    checkName(place, name, seen);
    seen.add(name.toLowerCase());
    if (!place.tooLong) templates.push({ name, parts: parseValue(place) });
  }
  return templates;
}

function checkName(place: Place, name: string, seen: ReadonlySet<string>): void {
  if (!TOKEN.test(name)) place.report(0, 'the header name is not a token (RFC 9110): use letters, digits and -');
  else if (NAMES_REFUSED.has(name.toLowerCase())) place.report(0, `the header ${name} frames the message; remove it`);
  else if (seen.has(name.toLowerCase())) place.report(0, `the header ${name} is given twice; keep one`);
}

function parseValue(place: Place): Part[] {
  const parts = scan(place, place.text);
  for (const part of parts) {
    if (part.kind !== 'literal') continue;
    const problem = findProblem(part.text);
    if (problem !== undefined)
      place.report(part.offset + (NOT_IN_VALUE.exec(part.text)?.index ?? 0), `the value ${problem}`);
  }
  return parts;
}

function findProblem(value: string): string | undefined {
  const character = NOT_IN_VALUE.exec(value)?.[0];
  if (character === undefined) return undefined;
  if (character === '\r' || character === '\n') return 'holds a line break, which a header may not';
  if (character === '\0') return 'holds U+0000, which a header may not';
  if (character < '\u{100}') return 'holds a control character, which a header may not';
  return 'holds a character outside latin-1, which a header may not; encode it as the server expects';
}

/** Renders a value. @throws AppError `bad_template_value` for line breaks, controls, and characters outside latin-1 */
export function renderHeader({ name, parts }: HeaderTemplate, rendering: Rendering): string {
  let value = '';
  for (const part of parts) {
    if (part.kind === 'literal') {
      value += part.text;
      continue;
    }
    const text = rendering.text(part);
    const problem = findProblem(text);
    if (problem !== undefined) throw badValue(part.source, `in header ${name} ${problem}`);
    value += text;
  }
  return value;
}
