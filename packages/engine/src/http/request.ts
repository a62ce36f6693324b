import { AppError } from '@rowcall/errors';
import type { Credential } from './auth.js';
import { ACCEPT_ENCODING } from './inflate.js';
import type { HttpCall } from './types.js';

/** A request as it goes out. Everything in it comes from the row, its arguments and the credential. */
export interface OutgoingRequest {
  readonly method: string;
  /** Holds the `query:` credential. */
  readonly url: URL;
  /** Lower-case names. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string | null;
  /** The credential that the request carries; null once it left the origin that the credential is for. */
  readonly credential: Credential | null;
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Headers that belong to the connection, not to the row (RFC 9110 7.6.1, 8.6, 7.2). */
const CONNECTION_HEADERS = new Set([
  'host',
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'content-length',
  'expect',
  'te',
  'trailer',
  'upgrade',
]);

/**
 * Puts a request together from nothing.
 * @throws AppError `invalid_row` for a method or header that a row may not use, `bad_template_value` for a URL or a
 * header value that is not well formed.
 */
export function toOutgoingRequest(call: HttpCall, credential: Credential, userAgent: string): OutgoingRequest {
  const method = call.method.toUpperCase();
  if (!METHODS.has(method)) {
    throw new AppError('invalid_row', `method ${JSON.stringify(call.method)} is not one of ${[...METHODS].join(', ')}`);
  }
  const headers = new Map<string, string[]>();
  for (const [name, value] of call.headers) addRowHeader(headers, name, value);
  setDefaultHeaders(headers, call.body?.contentType, userAgent);
  if (credential.header !== null) headers.set(credential.header[0], [credential.header[1]]);
  const url = parseUrl(call.url);
  return {
    method,
    url: credential.query === null ? url : withQuery(url, credential.query),
    headers: [...headers].flatMap(([name, values]) => values.map((value) => [name, value] as const)),
    body: call.body?.text ?? null,
    credential,
  };
}

/** The request with another credential, which goes into the same header. */
export function withHeaderCredential(request: OutgoingRequest, credential: Credential): OutgoingRequest {
  const { header } = credential;
  if (header === null) return { ...request, credential };
  const others = request.headers.filter(([name]) => name !== header[0]);
  return { ...request, headers: [...others, header], credential };
}

/** The URL with one query parameter set, the others left byte for byte as they are. */
export function withQuery(url: URL, [name, value]: readonly [string, string]): URL {
  const next = withoutQuery(url, (other) => other === name);
  const pair = `${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
  next.search = next.search === '' ? pair : `${next.search}&${pair}`;
  return next;
}

/** The URL without the query parameters that `isDropped` picks, the others left byte for byte as they are. */
export function withoutQuery(url: URL, isDropped: (name: string, value: string) => boolean): URL {
  const next = new URL(url);
  next.search = url.search
    .slice(1)
    .split('&')
    .filter((pair) => {
      const [[name, value] = ['', '']] = new URLSearchParams(pair);
      return pair !== '' && !isDropped(name, value);
    })
    .join('&');
  return next;
}

function parseUrl(text: string): URL {
  try {
    return new URL(text);
  } catch (error) {
    throw new AppError('bad_template_value', 'the target is not a URL: write METHOD https://host/path', {
      cause: error,
    });
  }
}

function addRowHeader(headers: Map<string, string[]>, rawName: string, value: string): void {
  const name = rawName.toLowerCase();
  if (!TOKEN.test(name) || CONNECTION_HEADERS.has(name) || name.startsWith('proxy-')) {
    throw new AppError('invalid_row', `header ${JSON.stringify(rawName)} cannot be set by a row: remove it`);
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\0-\x08\x0a-\x1f\x7f]/.test(value)) {
    throw new AppError('bad_template_value', `header ${name} must not hold line breaks or control characters`);
  }
  // Beyond ASCII the bytes of UTF-8 go out (obs-text, RFC 9110 5.5).
  const bytes = Buffer.from(value.trim(), 'utf8').toString('latin1');
  headers.set(name, [...(headers.get(name) ?? []), bytes]);
}

function setDefaultHeaders(headers: Map<string, string[]>, contentType: string | undefined, userAgent: string): void {
  if (!headers.has('user-agent')) headers.set('user-agent', [userAgent]);
  if (!headers.has('accept')) headers.set('accept', ['*/*']);
  if (!headers.has('accept-encoding')) headers.set('accept-encoding', [ACCEPT_ENCODING]);
  if (contentType === undefined) return;
  // The boundary of a multipart body is in its own type: no header of the row can know it.
  if (!headers.has('content-type') || contentType.startsWith('multipart/')) headers.set('content-type', [contentType]);
}
