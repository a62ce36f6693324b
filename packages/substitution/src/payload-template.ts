import { type FormTemplate, parseForm, renderForm, renderMultipart } from './form-template.js';
import { parseJsonParts } from './json-parse.js';
import { renderJsonParts } from './json-render.js';
import type { JsonPart } from './json-template.js';
import type { Place } from './parsing.js';
import { type Rendering, requireSize } from './rendering.js';
import { type Part, scan } from './scan.js';
import { renderParts } from './text-template.js';

/** A compiled payload of an http row. */
export type PayloadTemplate =
  | { readonly kind: 'json'; readonly parts: readonly JsonPart[] }
  | { readonly kind: 'raw'; readonly parts: readonly Part[] }
  | FormTemplate;

/** A rendered payload. */
export interface Body {
  readonly contentType: string;
  readonly text: string;
}

const FIRST_CHARACTER = /[^ \t\r\n]/;
const BARE_ARGS = /^\s*(?:\$ARGS|\$\{ARGS\})\s*$/;

/** Compiles a payload; its form is told by how it begins. @returns null when it is empty */
export function parsePayload(place: Place, method: string): PayloadTemplate | null {
  const start = place.text.search(FIRST_CHARACTER);
  if (start === -1 || place.tooLong) return null;
  const kind = tellKind(place.text, start);
  checkMethod(place, method, kind);
  switch (kind) {
    case 'json':
      return { kind, parts: parseJsonParts(place) };
    case 'raw':
      return { kind, parts: scan(place, place.text) };
    default:
      return parseForm(place, kind);
  }
}

function tellKind(text: string, start: number): PayloadTemplate['kind'] {
  if (text[start] === '{' || text[start] === '[' || BARE_ARGS.test(text)) return 'json';
  if (text.startsWith('form:', start)) return 'form';
  return text.startsWith('multipart:', start) ? 'multipart' : 'raw';
}

/** Content in GET has no general meaning (RFC 9110, 9.3.1), but some search APIs take JSON there; others are mistakes. */
function checkMethod(place: Place, method: string, kind: PayloadTemplate['kind']): void {
  if (method === 'HEAD') place.report(0, 'a HEAD request has no body; remove the payload');
  if (method === 'GET' && kind !== 'json') {
    place.report(
      0,
      'a GET request takes a JSON body at most; write the method in target, such as POST, or remove the payload',
    );
  }
}

/** Renders a payload and tells its content type. */
export function renderPayload(payload: PayloadTemplate, rendering: Rendering): Body {
  const body = renderBody(payload, rendering);
  requireSize(body.text);
  return body;
}

function renderBody(payload: PayloadTemplate, rendering: Rendering): Body {
  switch (payload.kind) {
    case 'json':
      return { contentType: 'application/json', text: renderJsonParts(payload.parts, rendering) };
    case 'raw':
      return { contentType: 'text/plain; charset=utf-8', text: renderParts(payload.parts, rendering) };
    case 'form':
      return { contentType: 'application/x-www-form-urlencoded', text: renderForm(payload, rendering) };
    case 'multipart': {
      const { boundary, text } = renderMultipart(payload, rendering);
      return { contentType: `multipart/form-data; boundary=${boundary}`, text };
    }
  }
}
