import type { Ajv, FormatDefinition } from 'ajv';
import addFormatsModule, { type FormatName } from 'ajv-formats';

// The package is CommonJS: for Node its default export is a member, for a bundler the function itself.
const addFormats = addFormatsModule.default ?? addFormatsModule;

/** Formats of texts whose check may take more than linear time, or that nobody writes at length. */
const BOUNDED: readonly FormatName[] = [
  'date',
  'time',
  'date-time',
  'iso-time',
  'iso-date-time',
  'duration',
  'uri',
  'uri-reference',
  'uri-template',
  'url',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uuid',
  'regex',
  'json-pointer',
  'json-pointer-uri-fragment',
  'relative-json-pointer',
];
/** Characters that a text of those formats may have; longer ones do not fit. */
const FORMAT_CHARS_MAX = 8_192;

/** Adds the formats of JSON Schema and OpenAPI, so that no text can hold the process up. */
export function addSafeFormats(ajv: Ajv): void {
  addFormats(ajv);
  for (const name of BOUNDED) ajv.formats[name] = toBounded(name);
}

function toBounded(name: FormatName): FormatDefinition<string> {
  const test = toTest(addFormats.get(name));
  return { validate: (text) => text.length <= FORMAT_CHARS_MAX && test(text) };
}

function toTest(format: ReturnType<typeof addFormats.get>): (text: string) => boolean {
  const check = typeof format === 'object' && 'validate' in format ? format.validate : format;
  if (check instanceof RegExp) return (text) => check.test(text);
  if (typeof check !== 'function') throw new Error('a bounded format must be a regular expression or a function');
  return (text) => (check as (text: string) => boolean)(text);
}
