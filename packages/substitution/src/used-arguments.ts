import type { HttpTemplate } from './http-template.js';
import type { JsonTemplate } from './json-template.js';
import type { UsedArguments } from './parsing.js';
import type { TextTemplate } from './text-template.js';

/** Lists which arguments a compiled template reads, in all its places: for contracts and the hygiene gate. */
export function usedArguments(template: HttpTemplate | JsonTemplate | TextTemplate): UsedArguments {
  return template.used;
}
