import type { JsonValue } from '@rowcall/protocol';

/** What a template is filled with. */
export interface Arguments {
  /** `$1` …: the pieces of the body, or named arguments in the order of `x-arg-order`. */
  readonly positional: readonly string[];
  /** `$name`. */
  readonly named: Readonly<Record<string, JsonValue>>;
  /** Flow bindings, looked up after `named`. */
  readonly bindings?: Readonly<Record<string, JsonValue>>;
  /** `$PREV`: what the previous step put out. */
  readonly previous?: JsonValue;
  /** The names behind `$1` … (`x-arg-order`), so that `$ARGS` leaves out what the template uses by position. */
  readonly positionNames?: readonly string[];
}

/**
 * Splits a body into positional arguments (SPEC 3). A body that is one valid JSON object or array is one argument,
 * kept byte for byte; any other splits at each `|`. The empty body has no arguments.
 */
export function splitBody(body: string): string[] {
  if (body === '') return [];
  return isJsonDocument(body) ? [body] : body.split('|');
}

const DOCUMENT_START = /^[ \t\r\n]*[{[]/;

function isJsonDocument(body: string): boolean {
  if (!DOCUMENT_START.test(body)) return false;
  try {
    JSON.parse(body);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}
