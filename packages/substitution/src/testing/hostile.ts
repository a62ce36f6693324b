// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax under test
import type { JsonValue } from '@rowcall/protocol';
import fc from 'fast-check';

const given = process.env.ROWCALL_PROPERTY_RUNS;

/**
 * Property runs: 5,000, the same ones each time, so that a change fails by its own doing alone; or so many new ones as
 * `ROWCALL_PROPERTY_RUNS` says.
 */
export const RUNS = given === undefined ? { numRuns: 5_000, seed: 20_261_130 } : { numRuns: Number(given) };

const PIECES = [
  '.',
  '..',
  '/',
  '\\',
  '//',
  '/../',
  '%2e',
  '%2E%2e',
  '%2f',
  '%5c',
  '%',
  '%0d%0a',
  '?',
  '#',
  '&',
  '=',
  ';',
  '+',
  ' ',
  ',',
  '@',
  ':',
  '@evil.example',
  'https://evil.example',
  'javascript:',
  '[',
  ']',
  '{',
  '}',
  '{+v}',
  '"',
  "'",
  '\\"',
  '\\u0022',
  '","x":"',
  '}]',
  '[1]',
  '{"a":1}',
  '"s"',
  'null',
  '-1.5',
  '$1',
  '$$1',
  '$name',
  '${PREV}',
  '\\$1',
  '$ARGS',
  '|',
  '\r',
  '\n',
  '\r\n\r\n',
  '\0',
  '\t',
  '\u{7f}',
  '\u{85}',
  '\u{a0}',
  '\u{10a}',
  '\u{2028}',
  '\u{feff}',
  '\u{ff0e}',
  '\u{ff0f}',
  'ä',
  '\u{1f600}',
  'a',
  'Z9',
  '-._~',
  '__proto__',
  'constructor',
  '--rowcall-boundary-0000000000',
  'rowcall-boundary-0000000001',
  'x'.repeat(300),
];

/** Text made to break out of a template, and any other text. Well-formed Unicode. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.array(fc.constantFrom(...PIECES), { maxLength: 5 }).map((pieces) => pieces.join('')) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
  { weight: 1, arbitrary: fc.string({ maxLength: 12 }) },
);

/** Any JSON value with hostile strings and member names. */
export const hostileJson: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2, depthSize: 'small' },
    hostileText,
    fc.constantFrom(null, true, false, 0, 5, 2.5, 1e21),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.array(fc.tuple(hostileText, tie('value')), { maxLength: 3 }).map((entries) => Object.fromEntries(entries)),
  ),
})).value;

/** A hole as the test writes it, and the value that it stands for. */
export interface Filled {
  readonly source: string;
  readonly value: JsonValue;
}

/** The arguments of a generated case, and holes that read them. */
export interface Case {
  readonly positional: readonly string[];
  readonly named: { readonly name: JsonValue; readonly v: string };
  readonly previous: { readonly p: JsonValue };
}

/** Arguments under two numbers, two names and a path. */
export const hostileCase: fc.Arbitrary<Case> = fc.record({
  positional: fc.tuple(hostileText, hostileText),
  named: fc.record({ name: hostileJson, v: hostileText }),
  previous: fc.record({ p: hostileJson }),
});

/** Each way to write a hole, with the value that `args` give it. `index` is taken modulo their number. */
export function toFilled(args: Case, index: number): Filled {
  const { positional, named, previous } = args;
  const holes: Filled[] = [
    { source: '${1}', value: positional[0] ?? '' },
    { source: '${2}', value: positional[1] ?? '' },
    { source: '${1+}', value: positional.join('|') },
    { source: '${name}', value: named.name },
    { source: '${v}', value: named.v },
    { source: '${PREV.p}', value: previous.p },
    { source: '${7}', value: '' },
    { source: '${PREV.none[0]}', value: '' },
  ];
  return holes[index % holes.length] ?? { source: '', value: '' };
}

/** The text of a value, by the rule of SPEC 4: a string as it is, anything else as JSON. */
export function toText(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
