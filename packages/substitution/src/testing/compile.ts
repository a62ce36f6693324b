import type { Arguments } from '../arguments.js';
import type { Diagnostic, ParseResult } from '../diagnostic.js';
import {
  type HttpRequestParts,
  type HttpTemplateSource,
  parseHttpTemplate,
  renderHttpTemplate,
} from '../http-template.js';

/** Arguments with nothing in them but what the test gives. */
export function makeArguments(args: Partial<Arguments> = {}): Arguments {
  return { positional: [], named: {}, ...args };
}

/** The compiled template. @throws Error with the diagnostics when it did not compile */
export function getTemplate<T>(result: ParseResult<T>): T {
  if (result.ok) return result.value;
  throw new Error(
    result.diagnostics.map(({ place, message, excerpt }) => `${place}: ${message}\n${excerpt}`).join('\n'),
  );
}

/** The diagnostics of a template. @throws Error when it compiled */
export function getDiagnostics(result: ParseResult<unknown>): readonly Diagnostic[] {
  if (!result.ok) return result.diagnostics;
  throw new Error('the template compiled');
}

/** Compiles and renders an http row. */
export function request(source: Partial<HttpTemplateSource>, args: Partial<Arguments> = {}): HttpRequestParts {
  const template = getTemplate(parseHttpTemplate({ target: 'POST https://a.example/', payload: '', ...source }));
  return renderHttpTemplate(template, makeArguments(args));
}
