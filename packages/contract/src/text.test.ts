import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutToBytes, toByteLength, toDisplayLine, toJsonTextBytes } from './text.js';

test.each([
  ['line breaks of every kind are spaces', 'a\r# b\nc\u2028d\u0085e\vf', 'a # b c de f'],
  ['direction overrides, tags and zero-width characters are gone', 'a\u202eb\u{e0041}c\u200bd\ufeff', 'abcd'],
  ['joined emoji stay whole', '👩‍👩‍👧 ok', '👩‍👩‍👧 ok'],
  ['half a surrogate pair is replaced', 'a\ud800b', 'a\ufffdb'],
  ['halves that a control parts stay halves', '\udb40\u0001\udc41', '\ufffd\ufffd'],
])('%s', (_name, text, shown) => {
  expect(toDisplayLine(text)).toBe(shown);
});

test('a cut text fits, is well formed, and is the longest beginning that fits', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme' }),
      fc.nat(60),
      fc.constantFrom(toByteLength, toJsonTextBytes),
      (text, max, measure) => {
        const { text: kept, cut } = cutToBytes(text, max, measure);
        expect(measure(kept)).toBeLessThanOrEqual(max);
        expect(kept.isWellFormed()).toBe(true);
        expect(cut).toBe(measure(text) > max);
        if (!cut) expect(kept).toBe(text);
        else if (kept !== '') expect(text.startsWith(kept.slice(0, -1))).toBe(true);
      },
    ),
  );
  expect(cutToBytes('éééé', 7).text).toBe('éé…');
  expect(cutToBytes('éééé', 6).text).toBe('é…');
  expect(cutToBytes('éééé', 2)).toEqual({ text: '', cut: true });
});
