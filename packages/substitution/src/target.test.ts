// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax under test
import { describe, expect, test } from 'vitest';
import { parseHttpTemplate } from './http-template.js';
import { getDiagnostics, request } from './testing/compile.js';

const HOST = 'https://api.example';

function url(target: string, args: Parameters<typeof request>[1] = {}): string {
  return request({ target }, args).url;
}

function diagnose(target: string, allowedHosts: string[] = []): string[] {
  return getDiagnostics(parseHttpTemplate({ target, payload: '', allowedHosts })).map(({ message }) => message);
}

const refusal = (message: string | RegExp) =>
  expect.objectContaining({ code: 'bad_template_value', message: expect.stringMatching(message) });

describe('method', () => {
  test.each([
    [`GET ${HOST}/`, 'GET'],
    [`${HOST}/`, 'GET'],
    [`DELETE  \t${HOST}/`, 'DELETE'],
    [`M-SEARCH ${HOST}/`, 'M-SEARCH'],
  ])('%s is a %s', (target, method) => {
    expect(request({ target }).method).toBe(method);
  });

  test.each([
    [`get ${HOST}/`, 'write the method in upper case: GET'],
    [`CONNECT ${HOST}/`, 'the method CONNECT cannot be sent; use another one'],
    [`TRACE ${HOST}/`, 'the method TRACE cannot be sent; use another one'],
    ['', 'the URL is missing; write METHOD URL'],
    ['POST', 'a target is METHOD URL with an absolute http:// or https:// URL and an upper-case method'],
    ['GET /path', 'a target is METHOD URL with an absolute http:// or https:// URL and an upper-case method'],
    ['GET ftp://a/', 'a target is METHOD URL with an absolute http:// or https:// URL and an upper-case method'],
    [
      'GET file:///etc/passwd',
      'a target is METHOD URL with an absolute http:// or https:// URL and an upper-case method',
    ],
  ])('refuses %j', (target, message) => {
    expect(diagnose(target)).toEqual([message]);
  });
});

describe('escaping by place', () => {
  test.each([
    ['/a/$1/b', '/a/x%2Fy%3Fz%23%20%25%26%3D%2B%5C%40%3A/b'],
    ['/a/b$1', '/a/bx%2Fy%3Fz%23%20%25%26%3D%2B%5C%40%3A'],
    ['/?q=$1', '/?q=x%2Fy%3Fz%23%20%25%26%3D%2B%5C%40%3A'],
    ['/?$1=x', '/?x%2Fy%3Fz%23%20%25%26%3D%2B%5C%40%3A=x'],
    ['/?q=$1#$1', '/?q=x%2Fy%3Fz%23%20%25%26%3D%2B%5C%40%3A'],
    ['/#$1?x=$1', '/'],
    ['/a?q=$$1', '/a?q=x/y?z%23%20%25&=+%5C@:'],
    ['/a/$$1/b', '/a/x/y%3Fz%23%20%25&=+%5C@:/b'],
    ['/a/$$1', '/a/x/y?z%23%20%25&=+%5C@:'],
    ['/a/$$1?fixed=1', '/a/x/y%3Fz%23%20%25&=+%5C@:?fixed=1'],
    ['/a/$$1#f', '/a/x/y?z%23%20%25&=+%5C@:'],
    ['/a/{+v}', '/a/x/y?z%23%20%25&=+%5C@:'],
    ['/a/{v}{?v}', '/a/x%2Fy%3Fz%23%20%25%26%3D%2B%5C%40%3A?v=x%2Fy%3Fz%23%20%25%26%3D%2B%5C%40%3A'],
    ['/a{#v}{?v}', '/a'],
  ])('%s', (path, expected) => {
    const value = 'x/y?z# %&=+\\@:';
    expect(url(HOST + path, { positional: [value], named: { v: value } })).toBe(HOST + expected);
  });

  test.each([
    ['', '/'],
    ['/a b/ü/%zz%2f', '/a%20b/%C3%BC/%25zz%2f'],
    ["/'(a)*!", "/'(a)*!"],
    ['/$unknown/$$unknown?a=$unknown', '/$unknown/$$unknown?a=$unknown'],
    ['/${unknown}', '/$%7Bunknown%7D'],
    ['/\\$1', '/$1'],
    ['/%2$1', '/%252e'],
    ['/a$9/b?c=$9', '/a/b?c='],
    ['/$3+', '/g%7Ch'],
    ["?q='", '/?q=%27'],
  ])('%s renders to %s', (path, expected) => {
    expect(url(HOST + path, { positional: ['e', 'f', 'g', 'h'] })).toBe(HOST + expected);
  });

  test('refuses text that has no UTF-8 form', () => {
    expect(() => url(`${HOST}/$1`, { positional: ['\ud800'] })).toThrow(refusal(/^\$1 holds half of a surrogate pair/));
  });
});

describe('RFC 6570 beside $', () => {
  test.each([
    ['/repos/{owner}/$1{?state,page*}', { owner: 'a/b', state: 'open', page: 2 }, '/repos/a%2Fb/one?state=open&page=2'],
    ['/repos/{owner}/$1{?state,page*}', { owner: 'o' }, '/repos/o/one'],
    ['/a{?x}{&y}&z=$1', { y: 1 }, '/a?y=1&z=one'],
    ['/a{?x}&z=$1', {}, '/a?z=one'],
    ['/a?f=1{&x,y}', { y: [1, 2] }, '/a?f=1&y=1,2'],
    ['/a{?x*}', { x: { b: '&', c: null } }, '/a?b=%26'],
    ['{/p*}', { p: ['a', 'b/c'] }, '/a/b%2Fc'],
    ['{/p*}', {}, '/'],
    ['{/p}.evil.example', {}, '/.evil.example'],
    ['{?x}', { x: 1 }, '/?x=1'],
    ['{#x}', { x: 1 }, '/'],
    ['/a{;x,y}/b', { x: '1;2' }, '/a;x=1%3B2/b'],
    ['/a{.x}', { x: 'json' }, '/a.json'],
  ])('%s with %j', (path, named, expected) => {
    expect(url(HOST + path, { positional: ['one'], named })).toBe(HOST + expected);
  });

  test.each([
    ['/a?x=1{?y}', 'the query has begun; write {&y}'],
    ['/a{&y}', 'the query has not begun; write {?y}'],
    ['/a{y', 'the brace has no partner; write %7B or %7D for a literal one'],
    ['/a}', 'the brace has no partner; write %7B or %7D for a literal one'],
    ['/a{$1}', '"$1" is not a variable of RFC 6570: write name, name* or name:3'],
    ['/a/../b', 'write the path without the segments . and ..'],
    ['/a/%2E./$1', 'write the path without the segments . and ..'],
    ['/a\\b', 'a URL holds no backslash and no control character; percent-encode it'],
    ['/a\nb', 'a URL holds no backslash and no control character; percent-encode it'],
    ['/$ARGS', '$ARGS stands only in a JSON body, unquoted, as a member or a value; write \\$ for a literal dollar'],
  ])('refuses the template %s', (path, message) => {
    expect(diagnose(HOST + path)).toEqual([message]);
  });

  test('gives the place of a fault', () => {
    expect(getDiagnostics(parseHttpTemplate({ target: `GET ${HOST}/a/{x`, payload: '' }))[0]).toMatchObject({
      place: 'target',
      offset: 26,
      line: 1,
      column: 27,
      excerpt: `GET https://api.example/a/{x\n${' '.repeat(26)}^`,
    });
  });
});

describe('dot segments', () => {
  test.each([
    ['/a/$1', '..', '$1'],
    ['/a/$1', '.', '$1'],
    ['/a/$1/b', '..', '$1'],
    ['/a/.$1', '.', '$1'],
    ['/a/%2e$1', '.', '$1'],
    ['/a/$1.', '.', '$1'],
    ['/a/$1;v=1/b', '..', '$1'],
    ['/a/$$1', '..', '$$1'],
    ['/a/$$1', '%2e%2E', '$$1'],
    ['/a/$$1', 'x/../y', '$$1'],
    ['/a/$$1', 'x/..', '$$1'],
    ['/a/$$1', '../?x', '$$1'],
    ['/a/$$1/b', '..;x', '$$1'],
    ['/a/x$$1', '/.', '$$1'],
    ['/a/{+v}', '../x', '{+v}'],
    ['/a/b{+v}.', '/.', '{+v}'],
    ['/a{/v}', '..', '{/v}'],
    ['/a{/v*}', '..', '{/v*}'],
    ['/a/{.v}', '.', '{.v}'],
    ['/a/{.v}', '', '{.v}'],
    ['/a/{v}{;v}', '..', '{v} {;v}'],
  ])('%s refuses %j and names %s', (path, value, named) => {
    expect(() => url(HOST + path, { positional: [value], named: { v: value } })).toThrow(
      expect.objectContaining({
        code: 'bad_template_value',
        message: `${named} would make the path segment . or .., which leads to another path; send another value`,
      }),
    );
  });

  test.each([
    ['/a/$1', '...', '/a/...'],
    ['/a/$1', '..a', '/a/..a'],
    ['/a/v$1', '..', '/a/v..'],
    ['/a/$1', '../b', '/a/..%2Fb'],
    ['/a/$1', '%2e%2e', '/a/%252e%252e'],
    ['/a/$1$1', 'x', '/a/xx'],
    ['/a?p=$1', '..', '/a?p=..'],
    ['/a?p=$$1', '/../x', '/a?p=/../x'],
    ['/a/$$1', 'b.c/d', '/a/b.c/d'],
  ])('%s takes %j', (path, value, expected) => {
    expect(url(HOST + path, { positional: [value] })).toBe(HOST + expected);
  });
});

const FIXED_ORIGIN =
  'an argument may not change scheme, host or port; write them out and end them with /, or write the whole origin as $$1 and name its hosts in limits.hosts';

describe('origin', () => {
  test.each([
    'https://$1/x',
    'https://$1.example.com/x',
    'https://api.example$1',
    'https://api.example{x}/y',
    'https://api.example{+x}/y',
    'https://api.example{;x}',
    'https://api.example:$1/',
    'https://$$1/x',
    '$1/x',
    '$scheme://x/',
    '$$PREV/x',
    '$$1+/x',
    '$$1$2',
    '$$1.example/x',
    '$$1:80/x',
    '{+base}/x',
  ])('refuses an argument in the origin of %s', (target) => {
    expect(diagnose(target, ['api.example'])).toEqual([FIXED_ORIGIN]);
  });

  test.each([
    ['https:///x', 'the host is missing or not valid'],
    ['https://exa mple/x', 'the host is missing or not valid'],
    ['https://$/x', 'the host is missing or not valid'],
    ['https://*.example/x', 'the host is missing or not valid'],
    ['https://a:99999/', 'the host is missing or not valid'],
    ['https://user:pass@a.example/', 'a URL holds no user or password; name a credential in auth'],
    ['$$1/x', '$$1 names the origin; list the hosts it may name in limits.hosts'],
  ])('refuses %s', (target, message) => {
    expect(diagnose(target)).toEqual([message]);
  });

  test('refuses entries of limits.hosts that are no hosts', () => {
    expect(diagnose('$$1/x', ['a/b', 'user@a', 'ok.example', '*.example', ''])).toEqual([
      'limits.hosts: "a/b" is not a host, host:port or origin',
      'limits.hosts: "user@a" is not a host, host:port or origin',
      'limits.hosts: "*.example" is not a host, host:port or origin',
      'limits.hosts: "" is not a host, host:port or origin',
    ]);
  });

  const HOSTS = ['api.example', '127.0.0.1:8080', 'https://only-tls.example', '[::1]:9000', 'bücher.example'];
  const withOrigin = (target: string, value: string) =>
    request({ target, allowedHosts: HOSTS }, { positional: [value, 'b/c'] }).url;

  test.each([
    ['$$1/v1/$2', 'https://api.example', 'https://api.example/v1/b%2Fc'],
    ['$$1/v1/$2', 'HTTP://API.Example/', 'http://api.example/v1/b%2Fc'],
    ['$$1/v1', 'https://api.example:443', 'https://api.example/v1'],
    ['GET $$1/', 'http://127.0.0.1:8080', 'http://127.0.0.1:8080/'],
    ['GET $$1?q=$2', 'http://127.1:8080', 'http://127.0.0.1:8080/?q=b%2Fc'],
    ['GET $$1', 'https://only-tls.example', 'https://only-tls.example/'],
    ['GET $$1', 'http://[::1]:9000/x', 'http://[::1]:9000/x'],
    ['GET $$1', 'https://BÜCHER.example', 'https://xn--bcher-kva.example/'],
    ['GET $$1', 'https://api.example/a/b?c=d#e', 'https://api.example/a/b?c=d'],
    ['GET $$1{/x}', 'https://api.example', 'https://api.example/'],
  ])('%s takes the origin %s', (target, value, expected) => {
    expect(withOrigin(target, value)).toBe(expected);
  });

  test.each([
    ['$$1/v1', 'https://evil.example', /does not allow/],
    ['$$1/v1', 'https://api.example.evil.example', /does not allow/],
    ['$$1/v1', 'https://xapi.example', /does not allow/],
    ['$$1/v1', 'https://api.example.', /does not allow/],
    ['$$1/v1', 'https://api.example:8443', /does not allow/],
    ['$$1/v1', 'http://api.example:443', /does not allow/],
    ['$$1/v1', 'http://127.0.0.1', /does not allow/],
    ['$$1/v1', 'http://only-tls.example', /does not allow/],
    ['$$1/v1', 'https://api.example@evil.example', /user or password/],
    ['$$1/v1', 'https://x:y@api.example', /user or password/],
    ['$$1/v1', 'https://api.example/other', /an origin alone/],
    ['$$1/v1', 'https://api.example?x', /an origin alone/],
    ['$$1/v1', 'https://api.example#x', /an origin alone/],
    ['$$1/v1', 'https://evil.example\\@api.example', /must be an origin/],
    ['$$1/v1', ' https://api.example', /must be an origin/],
    ['$$1/v1', 'https://api.exa\tmple', /must be an origin/],
    ['$$1/v1', 'api.example', /must be an origin/],
    ['$$1/v1', '//api.example', /must be an origin/],
    ['$$1/v1', 'ftp://api.example', /must be an origin/],
    ['$$1/v1', 'javascript:alert(1)', /must be an origin/],
    ['$$1/v1', '', /must be an origin/],
    ['$$unknown/v1', 'x', /must be an origin/],
  ])('%s refuses %j', (target, value, message) => {
    expect(() => withOrigin(target, value)).toThrow(refusal(message));
  });

  test('keeps a fixed origin whatever an argument holds', () => {
    for (const value of [
      '@evil.example',
      '//evil.example',
      '\\\\evil.example',
      ':1@evil.example',
      '/..//evil.example',
      '?@evil',
      '#',
    ]) {
      const target = `${HOST}:8443/$1/{v}?a=$1&b={v}{&v}`;
      expect(new URL(url(target, { positional: [value], named: { v: value } })).origin).toBe(`${HOST}:8443`);
    }
  });
});
