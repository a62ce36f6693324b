import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseDocstring } from './docstring.js';

const FULL = [
  '# WHAT: Tells the time',
  '#   in a zone.',
  '# WHEN_TO_USE: someone asks what time it is',
  '# ARGS: $1=zone (IANA name | or UTC) | $2+=rest',
  '#   | $4 = late',
  '# EX: [NOW]zone|Europe/Oslo[/NOW] or [NOW][/NOW]',
  '# EX: [NOW]iso[/NOW]',
  '# OUTPUT: text',
  '# PRECONDITIONS: none',
  '# EFFECTS: nothing',
  '# POSTCONDITIONS: nothing changed',
  '# SAFE: yes, it reads',
  '# IDEMPOTENT: FALSE',
  '# TESTS: call it twice',
  '# INVERSE: none',
  '',
  '# not documentation',
  '["$1"]',
].join('\n');

test('reads every label, continuation lines, and leaves the payload unchanged', () => {
  const { doc, payload } = parseDocstring(FULL, 'fn');
  expect(doc).toEqual({
    what: 'Tells the time in a zone.',
    whenToUse: 'someone asks what time it is',
    args: [
      { position: 1, openEnded: false, name: 'zone', note: 'IANA name | or UTC' },
      { position: 2, openEnded: true, name: 'rest', note: '' },
      { position: 4, openEnded: false, name: 'late', note: '' },
    ],
    argsText: '$1=zone (IANA name | or UTC) | $2+=rest | $4 = late',
    ex: ['zone|Europe/Oslo', '', 'iso'],
    output: 'text',
    preconditions: 'none',
    effects: 'nothing',
    postconditions: 'nothing changed',
    safe: true,
    idempotent: false,
    tests: 'call it twice',
    inverse: 'none',
  });
  expect(payload).toBe('\n# not documentation\n["$1"]');
});

test('reads CRLF as LF, but keeps the payload to the byte', () => {
  const { doc, payload } = parseDocstring('# WHAT: a\r\n# b\r\n{"x":\r\n1}', 'http');
  expect(doc.what).toBe('a b');
  expect(payload).toBe('{"x":\r\n1}');
});

test.each([
  ['a first line without a label is WHAT', '# Tells the time\nrest', 'fn', 'Tells the time', 'rest'],
  ['a line that does not start with # ends the block', '# a\n\n# b', 'fn', 'a', '\n# b'],
  ['an indented # is payload', ' # a', 'fn', '', ' # a'],
  ['a block may be all there is', '# WHAT: a', 'fn', 'a', ''],
  ['an unknown label is text', '# NOTE: a', 'flow', 'NOTE: a', ''],
  ['a label in lower case is text', '# what: a', 'flow', 'what: a', ''],
  ['a prompt that begins with a heading has no docstring', '# Role\nYou are', 'agent', '', '# Role\nYou are'],
  ['a prompt block that begins with a label has one', '# WHAT: a\n# Role\nYou', 'agent', 'a Role', 'You'],
  ['a prompt block whose second line has the label has none', '# Role\n# WHAT: a', 'agent', '', '# Role\n# WHAT: a'],
] as const)('%s', (_name, content, type, what, payload) => {
  const parsed = parseDocstring(content, type);
  expect(parsed.doc.what).toBe(what);
  expect(parsed.payload).toBe(payload);
});

test.each([
  ['text without tags is one argument string', '# EX: Oslo|now', ['Oslo|now']],
  ['an example may span lines', '# EX: [A]one\n# two[/A]', ['one\ntwo']],
  ['an unclosed tag is passed over', '# EX: [A] [B]x[/B]', ['x']],
  ['tags inside an example are its text', '# EX: [A][B]x[/B][/A]', ['[B]x[/B]']],
  ['no EX line, no example', '# WHAT: a', []],
])('EX: %s', (_name, content, ex) => {
  expect(parseDocstring(content, 'fn').doc.ex).toEqual(ex);
});

test('reads a megabyte of hostile tags in linear time', () => {
  const opens = Array.from({ length: 100_000 }, (_, index) => `[K${index}]`).join('');
  const start = performance.now();
  parseDocstring(`# EX: ${opens}\n# ARGS: ${'$1=('.repeat(100_000)}\n# ${' '.repeat(200_000)}x`, 'fn');
  expect(performance.now() - start).toBeLessThan(1_000);
});

test('the payload is always the end of the content, and what precedes it starts with # in every line', () => {
  const line = fc.oneof(fc.constantFrom('#', '# WHAT: x', '## y', '', 'text', '\r', '# EX: [A]1[/A]'), fc.string());
  fc.assert(
    fc.property(
      fc.array(line),
      fc.constantFrom('\n', '\r\n'),
      fc.constantFrom('fn', 'agent' as const),
      (lines, eol, type) => {
        const content = lines.join(eol);
        const { payload } = parseDocstring(content, type);
        expect(content.endsWith(payload)).toBe(true);
        const block = content.slice(0, content.length - payload.length);
        expect(
          block
            .split('\n')
            .slice(0, -1)
            .every((text) => text.startsWith('#')),
        ).toBe(true);
        if (type === 'fn') expect(payload.startsWith('#')).toBe(false);
      },
    ),
  );
});
