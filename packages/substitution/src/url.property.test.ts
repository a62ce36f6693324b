// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax under test
import fc from 'fast-check';
import { describe, test, vi } from 'vitest';
import { type HttpRequestParts, parseHttpTemplate } from './http-template.js';
import { request } from './testing/compile.js';
import { hostileCase, hostileText } from './testing/hostile.js';
import { attempt, check, pieces, requireEqual, toPlain, toTemplate, word } from './testing/property.js';

vi.setConfig({ testTimeout: 1_800_000 });

const origin = fc.constantFrom(
  'https://api.example',
  'http://127.0.0.1:8080',
  'https://[::1]:9000',
  'https://xn--bcher-kva.example',
);

describe('a URL', () => {
  test('has the origin, the segments and the parameters of its template, and each decodes to its argument', () => {
    const params = fc.array(fc.tuple(word, pieces), { maxLength: 3 });
    check(
      fc.property(origin, fc.array(pieces, { maxLength: 4 }), params, hostileCase, (base, segments, query, args) => {
        const path = segments.map((segment) => `/${toTemplate(segment, args)}`).join('');
        const search = query.map(([name, value]) => `${name}=${toTemplate(value, args)}`).join('&');
        const target = `GET ${base}${path}${search === '' ? '' : `?${search}`}`;
        const plain = segments.map((segment) => toPlain(segment, args));
        const result = attempt(() => request({ target }, args));
        if (plain.some((text) => /^\.{1,2}$/.test(text))) {
          requireEqual(result, { code: 'bad_template_value' });
          return;
        }
        const url = new URL((result as { value: HttpRequestParts }).value.url);
        requireEqual(url.origin, base);
        requireEqual(url.username + url.password + url.hash, '');
        requireEqual(url.pathname.slice(1).split('/').map(decodeURIComponent), plain.length === 0 ? [''] : plain);
        const sent =
          url.search === ''
            ? []
            : url.search
                .slice(1)
                .split('&')
                .map((pair) => pair.split('=').map(decodeURIComponent));
        requireEqual(
          sent,
          query.map(([name, value]) => [name, toPlain(value, args)]),
        );
      }),
    );
  });

  test('with unescaped holes and expressions keeps its origin and its fixed beginning, and has no dot segment', () => {
    const part = fc.constantFrom(
      '$$1',
      '${1}',
      '$$name',
      '{v}',
      '{+v}',
      '{/v}',
      '{/name*}',
      '{;name*}',
      '{.v}',
      '{+name*}',
      '{v:3}',
      'x',
      '.',
      '/',
      '/x/',
      ';',
      '%2e',
    );
    const query = fc.constantFrom('', '?a=$$1', '{?name*,v}', '?a={+v}{&name*}', '{#v}', '#$1');
    check(
      fc.property(
        origin,
        fc.array(part, { minLength: 1, maxLength: 4 }),
        query,
        hostileCase,
        (base, parts, search, args) => {
          const parsed = parseHttpTemplate({ target: `${base}/fixed/${parts.join('')}${search}`, payload: '' });
          if (!parsed.ok) return;
          const result = attempt(() => request({ target: `${base}/fixed/${parts.join('')}${search}` }, args));
          if ('code' in result) {
            requireEqual(result.code, 'bad_template_value');
            return;
          }
          const url = new URL(result.value.url);
          requireEqual(url.origin, base);
          requireEqual(url.username + url.password + url.hash, '');
          requireEqual(url.pathname.startsWith('/fixed/'), true);
          const segments = result.value.url.slice(base.length).split('?', 1)[0]?.split('/') ?? [];
          requireEqual(
            segments.filter((segment) => /^(\.|%2e){1,2}$/i.test(segment)),
            [],
          );
        },
      ),
    );
  });

  test('of expressions gives each argument back when it is parsed again, and leaves out those that are missing', () => {
    const text = fc.option(hostileText, { nil: undefined });
    const list = fc.option(fc.array(hostileText, { maxLength: 3 }), { nil: undefined });
    check(
      fc.property(origin, text, text, list, (base, v, w, items) => {
        const given = Object.entries({ v, w, items }).flatMap(([name, value]) =>
          value === undefined ? [] : [[name, value] as const],
        );
        const target = `${base}/fixed{/v}/end{?w,none,items*}{&v}`;
        const result = attempt(() => request({ target }, { named: Object.fromEntries(given) }));
        if (v !== undefined && /^\.{1,2}$/.test(v)) {
          requireEqual(result, { code: 'bad_template_value' });
          return;
        }
        const { url } = (result as { value: HttpRequestParts }).value;
        const [path = '', ...search] = url.slice(base.length).split('?');
        requireEqual(path.split('/').map(decodeURIComponent), ['', 'fixed', ...(v === undefined ? [] : [v]), 'end']);
        const pairs = search
          .join('?')
          .split('&')
          .filter((pair) => pair !== '');
        requireEqual(
          pairs.map((pair) => pair.split('=').map(decodeURIComponent)),
          [
            ...(w === undefined ? [] : [['w', w]]),
            ...(items ?? []).map((item) => ['items', item]),
            ...(v === undefined ? [] : [['v', v]]),
          ],
        );
        requireEqual(new URL(url).origin, base);
      }),
    );
  });

  test('whose origin is an argument goes to an allowed host or nowhere', () => {
    const allowedHosts = ['api.example', '127.0.0.1:8080'];
    const value = fc.oneof(
      hostileText,
      fc
        .tuple(fc.constantFrom('https://api.example', 'http://127.0.0.1:8080', 'https://'), hostileText)
        .map((pair) => pair.join('')),
      fc.tuple(hostileText, fc.constant('api.example')).map((pair) => `https://${pair.join('')}`),
    );
    check(
      fc.property(
        fc.constantFrom('$$1', '$$1/x', '$$1/$2?q=$2', '$$1{/v}'),
        value,
        hostileText,
        (target, first, second) => {
          const args = { positional: [first, second], named: { v: second } };
          const result = attempt(() => request({ target, allowedHosts }, args));
          if ('code' in result) requireEqual(result.code, 'bad_template_value');
          else {
            const { origin: sent } = new URL(result.value.url);
            requireEqual(/^https?:\/\/(api\.example|127\.0\.0\.1:8080)$/.test(sent), true);
          }
        },
      ),
    );
  });
});
