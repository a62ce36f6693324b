import fc from 'fast-check';
import { expect, test } from 'vitest';
import { makeSafePattern } from './safe-pattern.js';

const free = () => {};
const limited = (stepsMax: number) => {
  let left = stepsMax;
  return (steps: number) => {
    left -= steps;
    if (left < 0) throw new Error('spent');
  };
};

test.each([
  ['^([a-z]+)+$', `${'a'.repeat(50_000)}!`],
  ['^(a|a)*$', `${'a'.repeat(50_000)}!`],
  ['^(a?){50}a{50}$', 'a'.repeat(49)],
  ['(.*)*(.*)*(.*)*x', 'y'.repeat(5_000)],
  [String.raw`^(\w+\s?)*$`, `${'word '.repeat(5_000)}!`],
])('answers %s on a hostile text in linear time', (pattern, text) => {
  const start = performance.now();
  expect(makeSafePattern(pattern, free).test(text)).toBe(false);
  expect(performance.now() - start).toBeLessThan(3_000);
});

test.each(['^(?!x)([a-z]+)+$', '^(a|a)*(?=b)', '^(a?){50}(?<!b)$', String.raw`^(?:(a+)\1)+$`, '^(.{0,2000}){0,2000}$'])(
  'refuses %s, which only an exponential matcher could run',
  (pattern) => {
    expect(() => makeSafePattern(pattern, free)).toThrow(/could take unbounded time/);
  },
);

test('refuses a pattern that is too long or not valid', () => {
  expect(() => makeSafePattern('a'.repeat(4_097), free)).toThrow(/at most 4096/);
  expect(() => makeSafePattern('(', free)).toThrow(SyntaxError);
});

test('spends the steps of a look-around pattern before it runs', () => {
  const pattern = makeSafePattern('^(?=.*a)(?=.*b).{2,}$', limited(1_000_000));
  expect(pattern.test('ba')).toBe(true);
  expect(() => pattern.test('x'.repeat(1_001))).toThrow('spent');
});

const PATTERNS = [
  String.raw`^[\w-\.]+@[\w-]+\.+[a-z]{2,}$`,
  String.raw`^(?:\d{4}-\d\d)?(a|b)+\s*$`,
  String.raw`^\S+\s\S+.$`,
  String.raw`^(?<year>\d+)[^\/\]]*\/[\s.]+$`,
  String.raw`^(a|\u00e9|\u{e9}|\x41|[\b\u0041-\u0043[])*$`,
  String.raw`(foo|ba[rz])+\$`,
  '^a{1,3}(b{2}){1,2}}?$',
  String.raw`^(\p{L}+|[^])*\.$`,
  String.raw`a*\0*b*`,
];
const pieces = fc.constantFrom(
  'a',
  'b',
  'A',
  'é',
  '1',
  '2024-01',
  '.',
  '@',
  '-',
  '/',
  '$',
  '[',
  ']',
  '}',
  '\n',
  '\u2028',
  ' ',
  '\u00a0',
  '\v',
  'foo',
  'bar',
  '\b',
  '😀',
);

test.each(PATTERNS)('agrees with ECMAScript on %s', (pattern) => {
  const safe = makeSafePattern(pattern, free);
  let native: RegExp;
  try {
    native = new RegExp(pattern, 'u');
  } catch {
    native = new RegExp(pattern);
  }
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 8 }), (parts) => {
      const text = parts.join('');
      expect(safe.test(text)).toBe(native.test(text));
    }),
    { numRuns: 500 },
  );
});
