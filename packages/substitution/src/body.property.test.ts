// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax under test
import fc from 'fast-check';
import { describe, test, vi } from 'vitest';
import { parseHttpTemplate } from './http-template.js';
import { getTemplate, request } from './testing/compile.js';
import { hostileCase } from './testing/hostile.js';
import { attempt, check, pieces, requireEqual, toPlain, toTemplate } from './testing/property.js';
import { parseTextTemplate, renderTextTemplate } from './text-template.js';

vi.setConfig({ testTimeout: 1_800_000 });

test('a header holds no line break and no control, and is otherwise its text', () => {
  check(
    fc.property(pieces, hostileCase, (list, args) => {
      const result = attempt(() => request({ headers: { 'X-A': toTemplate(list, args) } }, args).headers[0]?.[1]);
      const plain = toPlain(list, args);
      const allowed = /^[\t\x20-\x7e\x80-\xff]*$/.test(plain);
      requireEqual(result, allowed ? { value: plain } : { code: 'bad_template_value' });
    }),
  );
});

describe('a form', () => {
  const fields = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'list[]', 'x y'), pieces), { minLength: 1, maxLength: 4 });

  test('has the fields of its template, urlencoded', () => {
    check(
      fc.property(fields, fc.constantFrom('&', '\n'), hostileCase, (list, separator, args) => {
        const payload = `form:${list.map(([name, value]) => `${name}=${toTemplate(value, args)}`).join(separator)}`;
        const sent = new URLSearchParams(request({ payload }, args).body?.text);
        requireEqual(
          [...sent],
          list.map(([name, value]) => [name, toPlain(value, args)]),
        );
      }),
    );
  });

  test('has the fields of its template, as multipart', () => {
    check(
      fc.property(fields, hostileCase, (list, args) => {
        const payload = `multipart:${list.map(([name, value]) => `${name}=${toTemplate(value, args)}`).join('&')}`;
        const { body } = request({ payload }, args);
        const boundary = body?.contentType.split('boundary=')[1] ?? '';
        const sent = `\r\n${body?.text}`.split(`\r\n--${boundary}`).slice(1, -1);
        requireEqual(
          sent,
          list.map(
            ([name, value]) => `\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${toPlain(value, args)}`,
          ),
        );
      }),
    );
  });
});

test('a text is its template with each hole replaced once', () => {
  check(
    fc.property(pieces, hostileCase, (list, args) => {
      const text = renderTextTemplate(getTemplate(parseTextTemplate(toTemplate(list, args))), args);
      requireEqual(text, toPlain(list, args));
    }),
  );
});

describe('any text at all as a template', () => {
  const TOKENS = [
    ...'${}+?&#/.;:\\",[]1v= \n*',
    ...['$$', '${', 'name', 'PREV', 'ARGS', 'https://', 'a.example', 'form:', 'multipart:', '%2e', 'GET '],
  ];
  const junk = fc.oneof(
    fc.array(fc.constantFrom(...TOKENS), { maxLength: 14 }).map((tokens) => tokens.join('')),
    fc.string({ unit: 'binary', maxLength: 20 }),
  );

  test('is compiled or diagnosed, and what is compiled renders or is refused', () => {
    check(
      fc.property(junk, junk, junk, hostileCase, (path, value, payload, args) => {
        const target = path.length % 3 === 0 ? path : `POST https://a.example/${path}`;
        const source = { target, headers: { 'X-A': value }, payload, allowedHosts: ['a.example'] };
        const parsed = parseHttpTemplate(source);
        if (!parsed.ok) {
          for (const { line, column, offset, excerpt } of parsed.diagnostics) {
            requireEqual(Math.min(line, column, offset + 1) >= 1, true);
            requireEqual(excerpt.split('\n').length, 2);
          }
          return;
        }
        const result = attempt(() => request(source, args));
        if ('code' in result) {
          requireEqual(['bad_template_value', 'bad_json_value'].includes(result.code), true);
          return;
        }
        const [, host = 'a.example'] = /^(?:[A-Z]+ +)?https?:\/\/([^/?#{$]*)/.exec(target.trimEnd()) ?? [];
        requireEqual(new URL(result.value.url).host, new URL(`https://${host}/`).host);
        requireEqual(/[\r\n\0]/.test(result.value.headers.join()), false);
      }),
    );
  });
});
