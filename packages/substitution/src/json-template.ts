import type { JsonValue } from '@rowcall/protocol';
import type { Arguments } from './arguments.js';
import type { ParseResult } from './diagnostic.js';
import { parseJsonParts } from './json-parse.js';
import { renderJsonParts } from './json-render.js';
import { Parsing, type UsedArguments } from './parsing.js';
import type { Hole } from './reference.js';
import { Rendering, requireSize } from './rendering.js';

/** A piece of compiled JSON. */
export type JsonPart =
  /** JSON text that no argument changes. */
  | { readonly kind: 'text'; readonly text: string }
  /** A hole inside a string. */
  | { readonly kind: 'spliced'; readonly hole: Hole }
  /** A hole that is a whole value. */
  | { readonly kind: 'value'; readonly hole: Hole }
  /** An object whose member names are known only when it is rendered. */
  | { readonly kind: 'object'; readonly members: readonly JsonMember[]; readonly fixedNames: ReadonlySet<string> };

/** A member of such an object. */
export type JsonMember =
  | { readonly kind: 'fixed'; readonly parts: readonly JsonPart[] }
  | {
      readonly kind: 'named';
      readonly name: readonly JsonPart[];
      readonly source: string;
      readonly parts: readonly JsonPart[];
    }
  /** `$ARGS`: one member for each unused argument. */
  | { readonly kind: 'all'; readonly hole: Hole };

/** A compiled JSON template of positional arguments. */
export interface JsonTemplate {
  readonly kind: 'json';
  readonly parts: readonly JsonPart[];
  readonly used: UsedArguments;
}

const DEFAULT_TEMPLATE = '["$1"]';

/**
 * Compiles the payload of a fn row: a JSON array of positional arguments with holes. An empty text is `["$1"]`.
 * Strings, member names and value positions may hold holes; a value position takes an unquoted `$1`, `$name`, `$PREV`
 * or `$ARGS`.
 */
export function parseJsonTemplate(text: string): ParseResult<JsonTemplate> {
  const parsing = new Parsing();
  const place = parsing.open('payload', text.trim() === '' ? DEFAULT_TEMPLATE : text);
  const start = place.text.search(/[^ \t\r\n]/);
  if (place.text[start] !== '[')
    place.report(Math.max(start, 0), 'the payload of a fn row is a JSON array, such as ["$1"]');
  const parts = parsing.failed ? [] : parseJsonParts(place);
  return parsing.finish((used) => ({ kind: 'json', parts, used }));
}

/**
 * Fills a JSON template. The values have the template's shape whatever the arguments hold; the result shares nothing
 * with the arguments.
 * @throws AppError `bad_json_value` when an argument in a value position is not JSON, `bad_template_value` when a
 * computed member name repeats another, `payload_too_large` over 16 MiB
 */
export function renderJsonTemplate(template: JsonTemplate, args: Arguments): JsonValue {
  const text = renderJsonParts(template.parts, new Rendering(args, template.used));
  return JSON.parse(requireSize(text)) as JsonValue;
}
