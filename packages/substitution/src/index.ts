export { type Arguments, splitBody } from './arguments.js';
export type { Diagnostic, ParseResult } from './diagnostic.js';
export {
  type HttpRequestParts,
  type HttpTemplate,
  type HttpTemplateSource,
  parseHttpTemplate,
  renderHttpTemplate,
} from './http-template.js';
export { type JsonTemplate, parseJsonTemplate, renderJsonTemplate } from './json-template.js';
export type { UsedArguments } from './parsing.js';
export { parseTextTemplate, renderTextTemplate, type TextTemplate } from './text-template.js';
export { usedArguments } from './used-arguments.js';
