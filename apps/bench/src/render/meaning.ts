import { isDeepStrictEqual } from 'node:util';
import type { HttpRequestParts } from '@rowcall/substitution';

/** What a request says, whatever it looks like. */
export interface Meaning {
  readonly method: string;
  readonly url: { readonly path: string; readonly query: readonly (readonly [string, string])[] };
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

function toMeaning(
  target: { method: string; url: string },
  headers: ReadonlyArray<readonly [string, string]>,
  text: string,
): Meaning {
  const { origin, pathname, searchParams } = new URL(target.url);
  const named = Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]));
  return {
    method: target.method,
    url: { path: `${origin}${pathname}`, query: [...searchParams] },
    headers: named,
    body: readBody(named['content-type'], text),
  };
}

function readBody(contentType: string | undefined, text: string): unknown {
  if (contentType === undefined) return text;
  return contentType === 'application/json' ? JSON.parse(text) : [...new URLSearchParams(text)];
}

/** Reads a rendered request: parts, or the text of the whole. @throws SyntaxError or TypeError when it is none. */
export function readMeaning(rendered: string | HttpRequestParts): Meaning {
  if (typeof rendered !== 'string') {
    const { body, headers } = rendered;
    const type: [string, string][] = body === null ? [] : [['content-type', body.contentType]];
    return toMeaning(rendered, [...headers, ...type], body?.text ?? '');
  }
  const [head = '', ...rest] = rendered.split('\n\n');
  const [target = '', ...fields] = head.split('\n');
  const [method = '', url = ''] = target.split(' ');
  const headers = fields.map((field) => field.split(': ') as [string, string]);
  return toMeaning({ method, url }, headers, rest.join('\n\n'));
}

/** Whether two rendered requests say the same. */
export const isSameMeaning = (one: string | HttpRequestParts, other: string | HttpRequestParts): boolean =>
  isDeepStrictEqual(readMeaning(one), readMeaning(other));
