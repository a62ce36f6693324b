import type { JsonValue } from '@rowcall/protocol';
import { type Arguments, type HttpRequestParts, parseHttpTemplate, renderHttpTemplate } from '@rowcall/substitution';
import Handlebars from 'handlebars';
import Mustache from 'mustache';
import type { Shape } from './shapes.js';
import { HANDLEBARS_SYNTAX, MUSTACHE_SYNTAX, ROW_SYNTAX, type Syntax, toJsonName, toPositionalName } from './syntax.js';

/** A template engine, made ready for a shape. */
export interface Engine {
  readonly name: EngineName;
  /**
   * Parses the shape's template.
   * @param calls arguments of the calls; made ready here, so that only rendering is measured.
   * @returns renders for the `index`-th of them: a whole request as text, or its parts.
   */
  compile(shape: Shape, calls: readonly Arguments[]): (index: number) => string | HttpRequestParts;
}

/** What is compared. */
export const ENGINE_NAMES = ['rowcall', 'mustache', 'handlebars'] as const;
export type EngineName = (typeof ENGINE_NAMES)[number];

const FORM = 'application/x-www-form-urlencoded';

function compileRow(shape: Shape, calls: readonly Arguments[]): (index: number) => HttpRequestParts {
  const { payload, ...source } = shape.write(ROW_SYNTAX);
  const parsed = parseHttpTemplate({ ...source, payload: shape.contentType === FORM ? `form:${payload}` : payload });
  if (!parsed.ok) throw new Error(`${shape.name}: ${JSON.stringify(parsed.diagnostics)}`);
  return (index) => renderHttpTemplate(parsed.value, calls[index] as Arguments);
}

/**
 * The whole request as one template, which is the fastest that a language without a notion of a request can do:
 * request line, headers, an empty line, the body.
 */
export function toTemplateText(shape: Shape, syntax: Syntax): string {
  const { target, headers, payload } = shape.write(syntax);
  const type = shape.contentType === null ? {} : { 'content-type': shape.contentType };
  const fields = Object.entries({ ...headers, ...type }).map(([name, value]) => `${name}: ${value}\n`);
  return `${target}\n${fields.join('')}\n${payload}`;
}

/** The arguments as an object of names. JSON is written when it is asked for, in each rendering, as for a row. */
export function toView({ positional, named }: Arguments): object {
  const view: Record<string, JsonValue> = { ...named };
  for (const [index, value] of positional.entries()) view[toPositionalName(index + 1)] = value;
  for (const [name, value] of Object.entries(named)) {
    Object.defineProperty(view, toJsonName(name), { enumerable: true, get: () => JSON.stringify(value) });
  }
  return view;
}

function compileMustache(shape: Shape, calls: readonly Arguments[]): (index: number) => string {
  const text = toTemplateText(shape, MUSTACHE_SYNTAX);
  const writer = new Mustache.Writer(); // one of its own: the common one would know the text already
  const tokens = writer.parse(text);
  const views = calls.map(toView);
  return (index) => writer.renderTokens(tokens, new Mustache.Context(views[index]), undefined, text);
}

function compileHandlebars(shape: Shape, calls: readonly Arguments[]): (index: number) => string {
  const text = toTemplateText(shape, HANDLEBARS_SYNTAX);
  const render = Handlebars.compile(text, { noEscape: true, knownHelpersOnly: true });
  const views = calls.map(toView);
  return (index) => render(views[index]);
}

/** The engines, ours first. */
export const ENGINES: readonly Engine[] = [
  { name: 'rowcall', compile: compileRow },
  { name: 'mustache', compile: compileMustache },
  { name: 'handlebars', compile: compileHandlebars },
];
