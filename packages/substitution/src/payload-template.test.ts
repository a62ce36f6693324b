// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax under test
import { describe, expect, test } from 'vitest';
import { type HttpTemplateSource, parseHttpTemplate } from './http-template.js';
import { getDiagnostics, getTemplate, request } from './testing/compile.js';
import { usedArguments } from './used-arguments.js';

const ARGS = { positional: ['a&b=c', 'ü +%\r\n', '{"x":1}'], named: { name: 'Ada', n: 5, extra: [1] } };

function body(payload: string, args: Parameters<typeof request>[1] = ARGS) {
  return request({ payload }, args).body;
}

function diagnose(source: Partial<HttpTemplateSource>): string[] {
  const result = parseHttpTemplate({ target: 'POST https://a.example/', payload: '', ...source });
  return getDiagnostics(result).map(({ place, message }) => `${place}: ${message}`);
}

describe('the form is told by how the payload begins', () => {
  test.each([
    ['', null],
    [' \r\n', null],
    ['{"a":"$1"}', { contentType: 'application/json', text: '{"a":"a&b=c"}' }],
    ['\n [ $3, "$n" ]\n', { contentType: 'application/json', text: '[{"x":1},"5"]' }],
    ['$ARGS', { contentType: 'application/json', text: '{"name":"Ada","n":5,"extra":[1]}' }],
    ['form:a=$1&b=x', { contentType: 'application/x-www-form-urlencoded', text: 'a=a%26b%3Dc&b=x' }],
    ['text $1 $$1 \\$1\n', { contentType: 'text/plain; charset=utf-8', text: 'text a&b=c a&b=c $1\n' }],
    ['<a>$name</a>', { contentType: 'text/plain; charset=utf-8', text: '<a>Ada</a>' }],
    ['$3', { contentType: 'text/plain; charset=utf-8', text: '{"x":1}' }],
    ['formal: $name', { contentType: 'text/plain; charset=utf-8', text: 'formal: Ada' }],
  ])('%j', (payload, expected) => {
    expect(body(payload)).toEqual(expected);
  });

  test('keeps numbers of a JSON argument to the last digit', () => {
    expect(body('{"id":$1}', { positional: [' 12345678901234567890.10 '] })?.text).toBe(
      '{"id":12345678901234567890.10}',
    );
  });

  test('writes half of a surrogate pair in JSON as an escape', () => {
    expect(body('{"id":"$1"}', { positional: ['\ud800'] })?.text).toBe('{"id":"\\ud800"}');
  });
});

describe('form:', () => {
  test.each([
    ['form:a=$2', 'a=%C3%BC%20%2B%25%0D%0A'],
    ['form: a=$1 ', 'a=a%26b%3Dc'],
    ['form:a=$1$name!&b=${n}0', 'a=a%26b%3DcAda!&b=50'],
    ['form:a=$$1&d=1', 'a=a&b=c&d=1'],
    ['form:a=x y%20z+w%zz', 'a=x%20y%20z+w%25zz'],
    ['form:a=ü#"', 'a=%C3%BC%23%22'],
    ['form:&a=1&&b=&', 'a=1&b='],
    ['form:a=1&a=2', 'a=1&a=2'],
    ['form:a=b=c', 'a=b=c'],
    ['form:list[]=$extra', 'list[]=%5B1%5D'],
    ['form:a=$unknown', 'a=$unknown'],
    ['form:\n  a=$1\r\n\n  b=x & y=z\n', 'a=a%26b%3Dc&b=x%20%26%20y=z'],
  ])('%j', (payload, expected) => {
    expect(body(payload)?.text).toBe(expected);
  });

  test.each([
    ['form:$1', 'payload: a field is name=value with a name written out'],
    ['form:$1=x', 'payload: a field is name=value with a name written out'],
    ['form:a$1=x', 'payload: a field is name=value with a name written out'],
    ['form:a', 'payload: a field is name=value with a name written out'],
    ['form:=x', 'payload: a field is name=value with a name written out'],
  ])('refuses %j', (payload, expected) => {
    expect(diagnose({ payload })).toEqual([expected]);
  });

  test('gives the place of a bad field', () => {
    const result = parseHttpTemplate({ target: 'POST https://a/', payload: 'form:\n a=1\n $1=2' });
    expect(getDiagnostics(result)[0]).toMatchObject({ offset: 12, line: 3, column: 2, excerpt: ' $1=2\n ^' });
  });
});

describe('multipart:', () => {
  const text = (boundary: string, ...fields: Array<[string, string]>) =>
    `${fields.map(([name, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`).join('')}--${boundary}--\r\n`;

  test('encodes fields, values as they are', () => {
    expect(body('multipart:a=$1&b c=x y')).toEqual({
      contentType: 'multipart/form-data; boundary=rowcall-boundary-0000000000',
      text: text('rowcall-boundary-0000000000', ['a', 'a&b=c'], ['b c', 'x y']),
    });
  });

  test('takes one field on each line', () => {
    expect(body('multipart:\na=$2\n  "q"=1 & 2')?.text).toBe(
      text('rowcall-boundary-0000000000', ['a', 'ü +%\r\n'], ['%22q%22', '1 & 2']),
    );
  });

  test('takes a boundary that is in no value', () => {
    const value = 'x\r\n--rowcall-boundary-0000000000--\r\nrowcall-boundary-0000000001 rowcall-boundary-0000000003';
    const sent = body('multipart:a=$1&b=2', { positional: [value] });
    expect(sent).toEqual({
      contentType: 'multipart/form-data; boundary=rowcall-boundary-0000000002',
      text: text('rowcall-boundary-0000000002', ['a', value], ['b', '2']),
    });
  });

  test('finds its boundary in one pass over a value full of boundaries', () => {
    const value = Array.from(
      { length: 100_000 },
      (_, index) => `rowcall-boundary-${String(index).padStart(10, '0')}`,
    ).join('');
    const started = performance.now();
    expect(body('multipart:a=$1', { positional: [value] })?.contentType).toContain('rowcall-boundary-0000100000');
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});

describe('methods', () => {
  test('GET takes a JSON body', () => {
    expect(request({ target: 'GET https://a.example/_search', payload: '{"q":"$1"}' }, ARGS).body?.text).toBe(
      '{"q":"a&b=c"}',
    );
  });

  test.each(['form:a=1', 'multipart:a=1', 'text'])('GET refuses the payload %s', (payload) => {
    expect(diagnose({ target: 'https://a.example/', payload })).toEqual([
      'payload: a GET request takes a JSON body at most; write the method in target, such as POST, or remove the payload',
    ]);
  });

  test('HEAD refuses any payload', () => {
    expect(diagnose({ target: 'HEAD https://a.example/', payload: '{}' })).toEqual([
      'payload: a HEAD request has no body; remove the payload',
    ]);
  });
});

describe('the whole row', () => {
  const row = {
    target: 'POST https://a.example/{id}/$1{?page*}',
    headers: { 'X-A': '$token $4+', 'X-B': '$PREV.id' },
    payload: '{"title":"$title",$ARGS}',
  };

  test('gives $ARGS what neither target, headers nor payload use', () => {
    const named = { id: 'i', page: 2, token: 't', title: 'T', state: 'open', tags: ['x'] };
    expect(request(row, { positional: ['p'], named, previous: { id: 7 } })).toEqual({
      method: 'POST',
      url: 'https://a.example/i/p?page=2',
      headers: [
        ['X-A', 't '],
        ['X-B', '7'],
      ],
      body: { contentType: 'application/json', text: '{"title":"T","state":"open","tags":["x"]}' },
    });
  });

  test('lists what all places use', () => {
    expect(usedArguments(getTemplate(parseHttpTemplate(row)))).toEqual({
      positional: [1],
      rest: 4,
      names: ['id', 'page', 'title', 'token'],
      previous: true,
      all: true,
    });
  });

  test('reports the faults of all places at once', () => {
    expect(diagnose({ target: 'GET https://$1/', headers: { Host: 'x' }, payload: '{"a":}' })).toEqual([
      expect.stringMatching(/^target: an argument may not change/),
      expect.stringMatching(/^headers.Host: /),
      expect.stringMatching(/^payload: expected a JSON value/),
    ]);
  });

  test('lists at most 20 faults', () => {
    expect(diagnose({ payload: '$ARGS '.repeat(1_000) })).toHaveLength(20);
  });

  test('counts holes over all places', () => {
    const half = '$1'.repeat(5_001);
    expect(diagnose({ headers: { 'X-A': half }, payload: half })).toEqual([
      'payload: a template has at most 10000 holes; split the row',
    ]);
  });

  test('refuses a place over 1 MiB', () => {
    expect(diagnose({ payload: 'x'.repeat(1_048_577) })).toEqual(['payload: is over 1048576 bytes; shorten it']);
  });

  test('counts output over all places', () => {
    const args = { positional: ['x'.repeat(9_000_000)] };
    expect(() => request({ headers: { 'X-A': '$1' }, payload: '$1' }, args)).toThrow(
      expect.objectContaining({ code: 'payload_too_large' }),
    );
  });

  test('renders the same parts again from the same template', () => {
    const args = { positional: ['p'], named: { title: 'T' } };
    expect(request(row, args)).toEqual(request(row, args));
  });
});
