import { describe, expect, test } from 'vitest';
import { toResult } from './result.js';

const result = (body: string | Buffer, contentType: string | null, truncated = false) =>
  toResult({ bytes: Buffer.from(body as string), contentType, truncated });

describe('result of a body', () => {
  test.each(['application/json', 'application/json; charset=utf-8', 'application/problem+json', 'text/json'])(
    'is the JSON value for %s',
    (type) => expect(result('{"a":[1,null]}', type)).toEqual({ a: [1, null] }),
  );

  test.each([
    ['{"a":', 'application/json'],
    ['{"a":1}\n{"a":2}', 'application/x-ndjson'],
    ['data: {"a":1}\n\n', 'text/event-stream'],
    ['{"a":1}', 'text/plain'],
    ['', 'application/json'],
  ])('is the text %j for %s', (body, type) => expect(result(body, type)).toBe(body));

  test('is text for JSON that was cut', () => {
    expect(result('12', 'application/json', true)).toBe('12');
  });

  test('is text for JSON nested so deeply that walking it would overflow the stack', () => {
    const body = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;
    expect(result(body, 'application/json')).toBe(body);
  });

  test.each(['image/png', 'application/octet-stream', null])('is Base64 for bytes of type %s', (type) => {
    const bytes = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff, 0x00]);
    expect(result(bytes, type)).toEqual({ base64: 'iVBOR/8A', content_type: type });
  });

  test.each(['application/octet-stream', null])('is text for UTF-8 of type %s', (type) => {
    expect(result('naïve ☃', type)).toBe('naïve ☃');
  });

  test('ends a cut text at a character', () => {
    const snow = Buffer.from('ab☃☃');
    for (const type of ['text/plain', 'application/octet-stream']) {
      expect(result(snow.subarray(0, 7), type, true)).toBe('ab☃');
      expect(result(snow.subarray(0, 5), type, true)).toBe('ab☃');
      expect(result(snow.subarray(0, 3), type, true)).toBe('ab');
    }
  });

  test('follows the charset, falls back to UTF-8, replaces what is ill-formed', () => {
    expect(result(Buffer.from([0xe9]), 'text/plain; charset=iso-8859-1')).toBe('é');
    expect(result(Buffer.from('h\0i\0'), 'text/plain; charset="utf-16le"')).toBe('hi');
    expect(result('é', 'text/plain; charset=klingon')).toBe('é');
    expect(result(Buffer.from([0x61, 0xff, 0x62]), 'text/html')).toBe('a\ufffdb');
  });
});
