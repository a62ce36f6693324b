import { describe, expect, it } from 'vitest';
import { buildValueRedactor } from './redact.js';

const SECRET = 'zq9S3cretValue-77x';

describe('the redactor by values', () => {
  it.each([4, 8, SECRET.length - 1])('hides the first %i characters of a secret where a text was cut', (length) => {
    const cut = buildValueRedactor([SECRET]).cutText(`AAAA${SECRET.slice(0, length)}`);
    expect(cut).toBe('AAAA[redacted]');
  });

  it('leaves a text alone that was cut elsewhere', () => {
    expect(buildValueRedactor([SECRET]).cutText('nothing of it')).toBe('nothing of it');
  });

  it('hides the longest head of a secret that repeats itself', () => {
    expect(buildValueRedactor(['abcabcabd']).cutText('x abcabcabcab')).toBe('x abc[redacted]');
  });

  it('takes no time for a great secret and a text that nearly ends as it begins', () => {
    const redactor = buildValueRedactor([`${'a'.repeat(200_000)}b`]);
    const text = `${'a'.repeat(200_000)}c`;
    expect(redactor.cutText(text)).toBe(text);
  });

  it('hides a secret of digits that comes back as a number', () => {
    const value = { v: 8264519370, list: [8264519370, 8264519371] };
    expect(buildValueRedactor(['8264519370']).json(value)).toEqual({
      v: '[redacted]',
      list: ['[redacted]', 8264519371],
    });
  });

  it('hides a secret that comes back in lower or upper case', () => {
    const redactor = buildValueRedactor([SECRET]);
    expect(redactor.text(`https://${SECRET.toLowerCase()}.example:1`)).toBe('https://[redacted].example:1');
    expect(redactor.text(SECRET.toUpperCase())).toBe('[redacted]');
  });
});
