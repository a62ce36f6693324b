import type { Arguments } from './arguments.js';
import type { ParseResult } from './diagnostic.js';
import { Parsing, type UsedArguments } from './parsing.js';
import { Rendering, requireSize } from './rendering.js';
import { type Part, scan } from './scan.js';

/** A compiled text: prompts and bodies of flow steps. */
export interface TextTemplate {
  readonly kind: 'text';
  readonly parts: readonly Part[];
  readonly used: UsedArguments;
}

/** Compiles a text in which nothing is escaped: `$1` and `$$1` are the same. `$ARGS` is refused. */
export function parseTextTemplate(text: string): ParseResult<TextTemplate> {
  const parsing = new Parsing();
  const place = parsing.open('payload', text);
  const parts = place.tooLong ? [] : scan(place, text);
  return parsing.finish((used) => ({ kind: 'text', parts, used }));
}

/**
 * Fills a text in one pass from left to right; what an argument brings is never scanned again.
 * @throws AppError `payload_too_large` over 16 MiB
 */
export function renderTextTemplate(template: TextTemplate, args: Arguments): string {
  return requireSize(renderParts(template.parts, new Rendering(args, template.used)));
}

/** Joins literals and values as they are. */
export function renderParts(parts: readonly Part[], rendering: Rendering): string {
  let text = '';
  for (const part of parts) text += part.kind === 'literal' ? part.text : rendering.text(part);
  return text;
}
