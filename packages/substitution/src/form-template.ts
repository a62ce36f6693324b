import type { Place } from './parsing.js';
import { encodeComponent, encodeReserved } from './percent.js';
import type { Rendering } from './rendering.js';
import { type Literal, type Part, scan, splitParts } from './scan.js';
import { renderParts } from './text-template.js';

/** One field of a form: its name is fixed by the template. */
export interface FormField {
  readonly name: string;
  readonly parts: readonly Part[];
}

/** A compiled `form:` or `multipart:` payload. */
export interface FormTemplate {
  readonly kind: 'form' | 'multipart';
  readonly fields: readonly FormField[];
}

/**
 * Compiles the fields behind `form:` or `multipart:`: `a=$1&b=$2`, or one `name=value` on each line, where `&` is an
 * ordinary character. In `form:` fixed text is written urlencoded (`%20`, `+`), and what cannot stand in a form is
 * encoded; in `multipart:` it is plain.
 */
export function parseForm(place: Place, kind: FormTemplate['kind']): FormTemplate {
  const start = place.text.indexOf(':') + 1;
  const body = place.text.slice(start).trim();
  const bodyStart = start + place.text.slice(start).search(/\S|$/);
  const separator = body.includes('\n') ? '\n' : '&';
  const groups = splitParts(
    scan(place, body, (index) => bodyStart + index),
    separator,
  );
  const fields: FormField[] = [];
  for (const group of groups) {
    const field = parseField(place, trimLine(group));
    if (field !== undefined) fields.push(kind === 'form' ? encodeField(field) : field);
  }
  return { kind, fields };
}

/** Drops what surrounds a line: indentation before the name, and the CR of a CRLF. */
function trimLine(group: ReadonlyArray<Part>): Part[] {
  const parts = [...group];
  const first = parts[0];
  if (first?.kind === 'literal') parts[0] = trimLiteral(first);
  const last = parts.at(-1);
  if (last?.kind === 'literal') parts[parts.length - 1] = { ...last, text: last.text.replace(/\r$/, '') };
  return parts;
}

function trimLiteral(literal: Literal): Literal {
  const text = literal.text.trimStart();
  return { ...literal, text, offset: literal.offset + literal.text.length - text.length };
}

function parseField(place: Place, parts: readonly Part[]): FormField | undefined {
  const [first, ...rest] = parts;
  if (first === undefined || (first.kind === 'literal' && first.text === '' && rest.length === 0)) return undefined;
  const equals = first.kind === 'literal' ? first.text.indexOf('=') : -1;
  if (first.kind !== 'literal' || equals < 1) {
    place.report(first.offset, 'a field is name=value with a name written out');
    return undefined;
  }
  const value: Literal = { ...first, text: first.text.slice(equals + 1), offset: first.offset + equals + 1 };
  return { name: first.text.slice(0, equals).trim(), parts: [value, ...rest].filter(isNotEmpty) };
}

function isNotEmpty(part: Part): boolean {
  return part.kind !== 'literal' || part.text !== '';
}

function encodeField({ name, parts }: FormField): FormField {
  return {
    name: encodeWritten(name),
    parts: parts.map((part) => (part.kind === 'literal' ? { ...part, text: encodeWritten(part.text) } : part)),
  };
}

/** Encodes fixed text of a form: triplets and `+` stay, what would end a field does not. */
function encodeWritten(text: string): string {
  return encodeReserved(text.toWellFormed()).replaceAll('&', '%26').replaceAll('#', '%23');
}

/** Renders an `application/x-www-form-urlencoded` body (WHATWG URL, 5). `$$1` goes in as it is. */
export function renderForm({ fields }: FormTemplate, rendering: Rendering): string {
  return fields.map(({ name, parts }) => `${name}=${renderFormValue(parts, rendering)}`).join('&');
}

function renderFormValue(parts: readonly Part[], rendering: Rendering): string {
  let text = '';
  for (const part of parts) {
    if (part.kind === 'literal') text += part.text;
    else if (part.raw) text += rendering.text(part);
    else if (rendering.isUnknown(part)) text += encodeWritten(part.source);
    else text += encodeComponent(rendering.wellFormedText(part));
  }
  return text;
}

/** An encoded multipart body and the boundary that separates its parts. */
export interface MultipartBody {
  readonly boundary: string;
  readonly text: string;
}

/** Renders a `multipart/form-data` body (RFC 7578). The boundary depends on the values alone, and is in none of them. */
export function renderMultipart({ fields }: FormTemplate, rendering: Rendering): MultipartBody {
  const values = fields.map(({ parts }) => renderParts(parts, rendering).toWellFormed());
  const boundary = chooseBoundary(values);
  let text = '';
  for (const [index, { name }] of fields.entries()) {
    text += `--${boundary}\r\ncontent-disposition: form-data; name="${quoteName(name)}"\r\n\r\n${values[index] ?? ''}\r\n`;
  }
  return { boundary, text: `${text}--${boundary}--\r\n` };
}

/** As browsers write names (WHATWG HTML, multipart/form-data). */
function quoteName(name: string): string {
  return name.replaceAll('\n', '%0A').replaceAll('\r', '%0D').replaceAll('"', '%22');
}

const BOUNDARY = 'rowcall-boundary-';
const BOUNDARY_DIGITS = 10;

/** The lowest numbered boundary that no value holds. One pass over the values, whatever they hold. */
export function chooseBoundary(values: readonly string[]): string {
  const taken = new Set<number>();
  for (const value of values) {
    for (let at = value.indexOf(BOUNDARY); at !== -1; at = value.indexOf(BOUNDARY, at + 1)) {
      const start = at + BOUNDARY.length;
      const digits = value.slice(start, start + BOUNDARY_DIGITS);
      if (/^[0-9]{10}$/.test(digits)) taken.add(Number(digits));
    }
  }
  let number = 0;
  while (taken.has(number)) number += 1;
  return BOUNDARY + String(number).padStart(BOUNDARY_DIGITS, '0');
}
