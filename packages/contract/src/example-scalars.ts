import type { JsonObject, JsonValue } from '@rowcall/protocol';
import { makeSafePattern } from './safe-pattern.js';

/** Texts of each format, as the RFC of the format shows them. */
const FORMAT_EXAMPLES: Readonly<Record<string, string>> = {
  date: '2026-01-31',
  time: '09:30:00Z',
  'date-time': '2026-01-31T09:30:00Z',
  'iso-time': '09:30:00Z',
  'iso-date-time': '2026-01-31T09:30:00Z',
  duration: 'PT1H',
  email: 'user@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  'uri-reference': '/path',
  'uri-template': 'https://example.com/{id}',
  uuid: '123e4567-e89b-42d3-a456-426614174000',
  'json-pointer': '/name',
  'relative-json-pointer': '0',
  regex: '^a+$',
  byte: 'ZXhhbXBsZQ==',
};
/** Texts that fit patterns often seen; the check decides. */
const PATTERN_EXAMPLES = [
  'example',
  'a',
  'A',
  '1',
  'EXAMPLE',
  'Example',
  '2026-01-31',
  '1.0.0',
  '#000000',
  'USD',
  'en-US',
];
const TEXT_CHARS_MAX = 1_000;

const toNumber = (value: JsonValue | undefined) => (typeof value === 'number' ? value : undefined);

/** A text for the format, length bounds and, by trying a few, the pattern of a string schema. It may still not fit. */
export function toExampleText(schema: JsonObject): string {
  const format = typeof schema.format === 'string' ? FORMAT_EXAMPLES[schema.format] : undefined;
  if (format !== undefined) return format;
  const min = Math.min(toNumber(schema.minLength) ?? 0, TEXT_CHARS_MAX);
  const max = toNumber(schema.maxLength) ?? TEXT_CHARS_MAX;
  const { pattern } = schema;
  const candidates = typeof pattern === 'string' ? PATTERN_EXAMPLES.filter(makeTest(pattern)) : ['example'];
  const fits = candidates.find((text) => text.length >= min && text.length <= max);
  const [first = 'example'] = candidates;
  return fits ?? (first.length < min ? first.padEnd(min, first) : first.slice(0, max));
}

function makeTest(pattern: string): (text: string) => boolean {
  try {
    return makeSafePattern(pattern, () => {}).test;
  } catch {
    return () => false;
  }
}

/** A number within the bounds of a schema. @param step 1 for integers */
export function toExampleNumber(schema: JsonObject, step: number | undefined): number {
  const multiple = toNumber(schema.multipleOf) ?? step;
  const unit = multiple ?? 1;
  const low = toNumber(schema.minimum);
  const aboveLow = toNumber(schema.exclusiveMinimum);
  const high = toNumber(schema.maximum);
  const belowHigh = toNumber(schema.exclusiveMaximum);
  if (low !== undefined) return Math.ceil(low / unit) * unit;
  if (aboveLow !== undefined)
    return belowHigh !== undefined && multiple === undefined
      ? (aboveLow + belowHigh) / 2
      : (Math.floor(aboveLow / unit) + 1) * unit;
  if (high !== undefined) return Math.min(unit, Math.floor(high / unit) * unit);
  return belowHigh !== undefined ? Math.min(unit, (Math.ceil(belowHigh / unit) - 1) * unit) : unit;
}
