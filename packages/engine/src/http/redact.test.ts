import type { JsonValue } from '@rowcall/protocol';
import { describe, expect, test } from 'vitest';
import { buildRedactor, buildValueRedactor } from './redact.js';

const SECRET = 'pä$$/wörd+"quoted"&more';
const plain = buildRedactor([]);

/** Written apart, so that no scanner takes this file for a leak. */
const join = (...parts: string[]): string => parts.join('');

describe('redaction by value', () => {
  const redactor = buildRedactor([SECRET]);
  const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');
  const url = (text: string): string => encodeURIComponent(text);

  test.each([
    ['as it is', SECRET],
    ['JSON-escaped', JSON.stringify(SECRET)],
    ['JSON-escaped twice', JSON.stringify(JSON.stringify(SECRET))],
    ['JSON-escaped with \\/', JSON.stringify(SECRET).replaceAll('/', '\\/')],
    ['URL-encoded', url(SECRET)],
    ['URL-encoded in lower case', url(SECRET).replace(/%../g, (octet) => octet.toLowerCase())],
    ['URL-encoded twice', url(url(SECRET))],
    ['form-encoded', new URLSearchParams({ a: SECRET }).toString()],
    ['HTML-escaped', SECRET.replaceAll('&', '&amp;').replaceAll('"', '&quot;')],
    ['Base64', base64(SECRET)],
    ['Base64 without padding', base64(SECRET).replaceAll('=', '')],
    ['Base64url', Buffer.from(SECRET).toString('base64url')],
    ['Base64, URL-encoded', url(base64(SECRET))],
    ['hexadecimal', Buffer.from(SECRET).toString('hex')],
    ['reversed', [...SECRET].reverse().join('')],
    ['URL-encoded and reversed', [...url(SECRET)].reverse().join('')],
    ['Base64 and reversed', [...base64(SECRET)].reverse().join('')],
    ['URL-encoded in upper case', url(SECRET).toUpperCase()],
    ['URL-encoded, the whole of it in lower case', url(SECRET).toLowerCase()],
    ['JSON-escaped in upper case', JSON.stringify(SECRET).toUpperCase()],
  ])('finds the value %s', (_form, text) => {
    const redacted = redactor.text(`before ${text} after`);
    expect(redacted).toContain('[redacted]');
    expect(redacted).not.toContain(text);
    expect(redacted).toMatch(/^before .*after$/);
  });

  test.each(['', 'u', 'us', 'use', 'user:'])('finds the value in Base64 behind %j, whatever follows', (before) => {
    const secret = 'correct-horse-battery';
    const text = base64(`${before}${secret} and more`);
    const redacted = buildValueRedactor([secret]).text(text);
    expect(redacted).toContain('[redacted]');
    expect(Buffer.from(redacted.replace('[redacted]', ''), 'base64').toString()).not.toMatch(/horse|batt/);
  });

  test('replaces every occurrence, the longest form first, in keys too', () => {
    const two = buildValueRedactor(['alpha-1', 'alpha-1-beta']);
    expect(two.text('alpha-1-beta alpha-1 alpha-1alpha-1')).toBe('[redacted] [redacted] [redacted][redacted]');
    expect(two.json({ 'x alpha-1': ['alpha-1'] })).toEqual({ 'x [redacted]': ['[redacted]'] });
  });

  test('does not look for values under four characters', () => {
    expect(buildValueRedactor(['abc']).text('abc abcd')).toBe('abc abcd');
  });

  test('leaves fields with secret names alone when only values are asked for', () => {
    const value = { next_page_token: 'abcdef', password: 'other' };
    expect(buildValueRedactor(['hunter22']).json(value)).toBe(value);
  });
});

describe('redaction by name', () => {
  test.each([
    ['Authorization', 'Basic abc'],
    ['cookie', 'a=b'],
    ['Set-Cookie', 'sid=1'],
    ['X-API-Key', 'k'],
    ['api_key', 'k'],
    ['access_token', 't'],
    ['refreshToken', 't'],
    ['client_secret', 's'],
    ['clientSecretKey', 's'],
    ['password', 'p'],
    ['db_passwd', 'p'],
    ['password', 1234],
    ['private_key', 'p'],
    ['credentials', { user: 'u', parts: ['p'] }],
  ] as [string, JsonValue][])('hides %s: %j', (name, value) => {
    const redacted = JSON.stringify(plain.json({ [name]: value }));
    expect(redacted).toContain('[redacted]');
    for (const leaf of [value].flat().flatMap((part) => (typeof part === 'object' ? ['"u"', '"p"'] : [part]))) {
      expect(redacted).not.toContain(`:${JSON.stringify(leaf)}`);
    }
  });

  test('keeps counts, flags, types and empty values', () => {
    const value = {
      max_tokens: 100,
      tokens_in: 7,
      usage: { prompt_tokens: 3, total_tokens: 10, token: 5 },
      token_type: 'bearer',
      token_endpoint: 'https://example.com/token',
      password: true,
      secret: null,
      cookie: '',
      author: 'Ann',
      key: 'NOW',
      monkey: 'see',
    };
    expect(plain.json(value)).toBe(value);
  });

  test('hides a header given as a pair or as name and value', () => {
    expect(
      plain.json([
        ['authorization', 'x'],
        ['accept', 'y'],
      ]),
    ).toEqual([
      ['authorization', '[redacted]'],
      ['accept', 'y'],
    ]);
    expect(plain.json({ name: 'X-Api-Key', value: 'x' })).toEqual({ name: 'X-Api-Key', value: '[redacted]' });
  });

  test.each([
    ['GET /x?api_key=abc123&page=2', 'GET /x?api_key=[redacted]&page=2'],
    ['grant_type=password&client_secret=s3cr3t', 'grant_type=password&client_secret=[redacted]'],
    ['{"password": "a\\"b", "n": 1}', '{"password": "[redacted]", "n": 1}'],
    ['{"body":"{\\"token\\":\\"abc\\\\\\"d\\",\\"n\\":1}"}', '{"body":"{\\"token\\":\\"[redacted]\\",\\"n\\":1}"}'],
    ['Host: a\r\nAuthorization: Digest abc\r\nAccept: b', 'Host: a\r\nAuthorization: [redacted]\r\nAccept: b'],
    ['{"max_tokens": 5, "tokens": "12"}', '{"max_tokens": 5, "tokens": "12"}'],
  ])('finds names in the text %j', (text, expected) => {
    expect(plain.text(text)).toBe(expected);
  });

  test('sets a member named __proto__ as data', () => {
    const redacted = plain.json(JSON.parse('{"__proto__": {"password": "p"}}')) as object;
    expect(JSON.stringify(redacted)).toBe('{"__proto__":{"password":"[redacted]"}}');
    expect(Object.getPrototypeOf(redacted)).toBe(Object.prototype);
  });

  test('replaces what is nested too deeply instead of overflowing', () => {
    const deep = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`) as JsonValue;
    expect(JSON.stringify(plain.json(deep))).toContain('[redacted]');
  });
});

describe('redaction by shape', () => {
  const alnum = 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8';
  test.each([
    join('gh', 'p_', alnum),
    join('github', '_pat_', alnum, '_', alnum),
    join('gl', 'pat-', alnum),
    join('s', 'k-proj-', alnum),
    join('s', 'k_live_', alnum),
    join('xo', 'xb-12345-67890-', alnum),
    join('AK', 'IA', 'ABCDEFGHIJKLMNOP'),
    join('AI', 'za', alnum.slice(0, 35)),
    join('ey', 'JhbGciOiJIUzI1NiJ9.', 'ey', 'JzdWIiOiIxMjM0In0.', 'c2lnbmF0dXJl'),
    join('sh', '.', alnum),
    join('Bea', 'rer ', alnum),
    join('-----BEGIN RSA PRIV', 'ATE KEY-----\nMIIE\nabc\n-----END RSA PRIV', 'ATE KEY-----'),
    join('-----BEGIN PRIV', 'ATE KEY-----\nMIIE cut off'),
  ])('hides %s', (secret) => {
    expect(plain.text(`x "${secret}`)).toBe('x "[redacted]');
    expect(plain.json({ note: secret })).toEqual({ note: '[redacted]' });
  });

  test('hides the password of a URL', () => {
    expect(plain.text('postgres://app:s3cret@db/x')).toBe('postgres://app:[redacted]@db/x');
  });

  test.each([
    'risk-assessment-of-something-large',
    'a task-force-for-the-very-long-haul-2026',
    'Basic responsibilities of the bearer',
    'www.sh.example-domain-which-is-long.com',
    'https://example.com:8080/path@1.0',
    'eyJustAWord.and.more',
    'the token: is explained below',
    '-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----',
  ])('leaves %j alone', (text) => {
    expect(plain.text(text)).toBe(text);
  });
});

describe('cost of redaction', () => {
  const size = 1 << 20;
  test.each([
    ['one letter', 'a'.repeat(size)],
    ['starts of tokens', 'eyJ'.repeat(size / 3)],
    ['starts of private keys', join('-----BEGIN PRIV', 'ATE KEY-----').repeat(size / 27)],
    ['quotes', '"token":"'.repeat(size / 9)],
    ['backslashes', `"token":"${'\\\\'.repeat(size / 2)}`],
    ['URLs', '://a:'.repeat(size / 5)],
  ])('stays linear for a mebibyte of %s', (_name, text) => {
    const redactor = buildRedactor(['correct-horse-battery', 'another-secret-value']);
    const startedAt = performance.now();
    redactor.text(text);
    // A quadratic search would take minutes; the bound is loose for busy machines.
    expect(performance.now() - startedAt).toBeLessThan(500);
  });
});
