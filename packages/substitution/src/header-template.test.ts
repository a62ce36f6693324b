// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax under test
import { describe, expect, test } from 'vitest';
import { parseHttpTemplate } from './http-template.js';
import { getDiagnostics, request } from './testing/compile.js';

function header(value: string, args: Parameters<typeof request>[1] = {}): string | undefined {
  return request({ headers: { 'X-Name': value } }, args).headers[0]?.[1];
}

function diagnose(headers: Record<string, string>) {
  return getDiagnostics(parseHttpTemplate({ target: 'POST https://a.example/', payload: '', headers }));
}

describe('header values', () => {
  test.each([
    ['plain', 'plain'],
    ['a $1 b $name', 'a one b Ada é'],
    ['$$1', 'one'],
    ['$missing', '$missing'],
    ['tab\tin $9', 'tab\tin '],
  ])('%j renders to %j', (value, expected) => {
    expect(header(value, { positional: ['one'], named: { name: 'Ada é' } })).toBe(expected);
  });

  test.each([
    ['a\r\nSet-Cookie: x', '$1 in header X-Name holds a line break, which a header may not'],
    ['a\nb', '$1 in header X-Name holds a line break, which a header may not'],
    ['a\rb', '$1 in header X-Name holds a line break, which a header may not'],
    ['a\0b', '$1 in header X-Name holds U+0000, which a header may not'],
    ['a\u{1b}b', '$1 in header X-Name holds a control character, which a header may not'],
    ['a\u{7f}b', '$1 in header X-Name holds a control character, which a header may not'],
    [
      'Ā',
      '$1 in header X-Name holds a character outside latin-1, which a header may not; encode it as the server expects',
    ],
    [
      '\u{2028}',
      '$1 in header X-Name holds a character outside latin-1, which a header may not; encode it as the server expects',
    ],
    // Truncated to one byte, this one would be a line feed.
    [
      '\u{10a}',
      '$1 in header X-Name holds a character outside latin-1, which a header may not; encode it as the server expects',
    ],
  ])('refuses %j', (value, message) => {
    for (const template of ['x $1', '$$1']) {
      const source = template.includes('$$') ? '$$1' : '$1';
      expect(() => header(template, { positional: [value] })).toThrow(
        expect.objectContaining({ code: 'bad_template_value', message: message.replace('$1', () => source) }),
      );
    }
  });
});

describe('header templates', () => {
  test.each([
    ['Bad Name', 'the header name is not a token (RFC 9110): use letters, digits and -'],
    ['', 'the header name is not a token (RFC 9110): use letters, digits and -'],
    ['X\r\nY', 'the header name is not a token (RFC 9110): use letters, digits and -'],
    ['Näme', 'the header name is not a token (RFC 9110): use letters, digits and -'],
    ['Host', 'the header Host frames the message; remove it'],
    ['content-length', 'the header content-length frames the message; remove it'],
    ['Transfer-Encoding', 'the header Transfer-Encoding frames the message; remove it'],
    ['CONNECTION', 'the header CONNECTION frames the message; remove it'],
    ['Upgrade', 'the header Upgrade frames the message; remove it'],
    ['TE', 'the header TE frames the message; remove it'],
    ['Trailer', 'the header Trailer frames the message; remove it'],
    ['Expect', 'the header Expect frames the message; remove it'],
    ['Keep-Alive', 'the header Keep-Alive frames the message; remove it'],
    ['Proxy-Authorization', 'the header Proxy-Authorization frames the message; remove it'],
  ])('refuses the name %j', (name, message) => {
    expect(diagnose({ [name]: 'x' })).toMatchObject([{ place: `headers.${name}`, message }]);
  });

  test('refuses a name given twice in other case', () => {
    expect(diagnose({ 'X-A': '1', 'x-a': '2' })).toMatchObject([
      { message: 'the header x-a is given twice; keep one' },
    ]);
  });

  test('refuses a line break that the template itself holds, and says where', () => {
    expect(diagnose({ 'X-A': 'one $1\ntwo' })).toMatchObject([
      { place: 'headers.X-A', line: 1, column: 7, message: 'the value holds a line break, which a header may not' },
    ]);
  });

  test('refuses $ARGS', () => {
    expect(diagnose({ 'X-A': '$ARGS' })).toHaveLength(1);
  });
});

describe('content type', () => {
  test('of the row replaces that of the payload, and is sent once', () => {
    const parts = request(
      { headers: { 'content-type': 'application/${1}+json', 'X-A': 'b' }, payload: '{}' },
      { positional: ['merge'] },
    );
    expect(parts.body?.contentType).toBe('application/merge+json');
    expect(parts.headers).toEqual([['X-A', 'b']]);
  });

  test('stays a header where there is no body', () => {
    expect(request({ headers: { 'Content-Type': 'x/y' } }).headers).toEqual([['Content-Type', 'x/y']]);
  });

  test('cannot be set for multipart, which needs its boundary', () => {
    const result = parseHttpTemplate({
      target: 'POST https://a/',
      headers: { 'Content-Type': 'x/y' },
      payload: 'multipart:a=1',
    });
    expect(getDiagnostics(result)).toMatchObject([{ place: 'headers.Content-Type' }]);
  });
});
