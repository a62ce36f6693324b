import { expect, test } from 'vitest';
import { toDiagnostic } from './diagnostic.js';

test.each([
  ['abc', 1, { line: 1, column: 2, excerpt: 'abc\n ^' }],
  ['abc', 3, { line: 1, column: 4, excerpt: 'abc\n   ^' }],
  ['', 0, { line: 1, column: 1, excerpt: '\n^' }],
  ['\nab', 0, { line: 1, column: 1, excerpt: '\n^' }],
  ['\nab', 1, { line: 2, column: 1, excerpt: 'ab\n^' }],
  ['one\ntwo\nthree', 8, { line: 3, column: 1, excerpt: 'three\n^' }],
  ['one\ntwo\nthree', 7, { line: 2, column: 4, excerpt: 'two\n   ^' }],
  ['\ta\tb', 3, { line: 1, column: 4, excerpt: '\ta\tb\n\t \t^' }],
  ['a\r\u{1b}b', 3, { line: 1, column: 4, excerpt: 'a\u{fffd}\u{fffd}b\n   ^' }],
  ['a\ud800b', 2, { line: 1, column: 3, excerpt: 'a\u{fffd}b\n  ^' }],
])('the caret of %j at %i stands below its character', (text, offset, expected) => {
  expect(toDiagnostic('payload', text, offset, 'm')).toEqual({ place: 'payload', message: 'm', offset, ...expected });
});

test('a long line is cut to a window around the fault', () => {
  const { excerpt, column } = toDiagnostic('payload', `${'a'.repeat(500)}X${'b'.repeat(500)}`, 500, 'm');
  expect(column).toBe(501);
  expect(excerpt).toBe(`${'a'.repeat(60)}X${'b'.repeat(59)}\n${' '.repeat(60)}^`);
});
