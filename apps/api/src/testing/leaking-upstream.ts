import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { deflateSync, gzipSync } from 'node:zlib';
import { startUpstream, type TestUpstream } from '@rowcall/testing';

/** A server that gives back all that it is sent, credential included, in as many ways as there are. */
export interface LeakingUpstream extends TestUpstream {
  /** The ways that were asked for so far, with the number of requests. */
  readonly asked: ReadonlyMap<string, number>;
  /** Every request so far as it arrived: request line, headers, body. */
  readonly arrived: readonly string[];
  /** Access and refresh tokens that `/token-of-<label>` issued so far, by label. */
  issued(label: string): readonly string[];
}

/** Encodings of the whole request in an answer. */
const ENCODINGS: Readonly<Record<string, (whole: string) => string>> = {
  plain: (whole) => whole,
  json: (whole) => JSON.stringify({ echo: whole, twice: JSON.stringify(whole), [whole]: true }),
  url: (whole) => encodeURIComponent(whole),
  'url-twice': (whole) => encodeURIComponent(encodeURIComponent(whole)),
  form: (whole) => String(new URLSearchParams({ echo: whole })),
  base64: (whole) => ['', 'x', 'xx'].map((before) => Buffer.from(before + whole).toString('base64')).join('\n'),
  base64url: (whole) => ['', 'x', 'xx'].map((before) => Buffer.from(before + whole).toString('base64url')).join('\n'),
  hex: (whole) => Buffer.from(whole).toString('hex'),
  reversed: (whole) => [...whole].reverse().join(''),
  upper: (whole) => whole.toUpperCase(),
  lower: (whole) => whole.toLowerCase(),
};

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The request as one text. */
  readonly whole: string;
  /** The values of its headers and its URL, as one line that a header may hold. */
  readonly line: string;
}

type Way = (exchange: Exchange) => void;

const send = (response: ServerResponse, status: number, type: string, body: string | Buffer): void =>
  void response.writeHead(status, { 'content-type': type }).end(body);

/** Ways to answer beside {@link ENCODINGS}. */
const WAYS: Readonly<Record<string, Way>> = {
  headers: ({ response, line }) => {
    response.statusMessage = line;
    response.setHeader('x-echo', line);
    response.setHeader('x-echo-base64', Buffer.from(line).toString('base64'));
    response.setHeader('set-cookie', `sid=${encodeURIComponent(line)}`);
    response.setHeader('www-authenticate', `Bearer error_description="${encodeURIComponent(line)}"`);
    send(response, 200, `text/plain; charset=utf-8; echo=${encodeURIComponent(line)}`, 'see the headers');
  },
  'content-type': ({ response, line }) => send(response, 200, line, Buffer.from([0, 1, 2])),
  chunks: ({ response, whole }) => {
    response.writeHead(200, { 'content-type': 'text/plain' });
    for (let at = 0; at < whole.length; at += 3) response.write(whole.slice(at, at + 3));
    response.end();
  },
  binary: ({ response, whole }) => send(response, 200, 'application/octet-stream', Buffer.from(`\0\xff${whole}\0`)),
  gzip: ({ response, whole }) => {
    response.setHeader('content-encoding', 'gzip');
    send(response, 200, 'text/plain', gzipSync(whole));
  },
  deflate: ({ response, whole }) => {
    response.setHeader('content-encoding', 'deflate');
    send(response, 200, 'application/json', deflateSync(JSON.stringify(whole)));
  },
  events: ({ response, whole }) => send(response, 200, 'text/event-stream', `data: ${JSON.stringify(whole)}\n\n`),
  utf16: ({ response, whole }) => send(response, 200, 'text/plain; charset=utf-16le', Buffer.from(whole, 'utf16le')),
  redirect: ({ request, response, line }) => {
    const way = `/landed?echo=${encodeURIComponent(line)}`;
    if (request.url?.startsWith('/landed')) send(response, 200, 'text/plain', `landed ${request.url}`);
    else response.writeHead(307, { location: way }).end(line);
  },
  away: ({ response, line }) =>
    response.writeHead(302, { location: `http://10.0.0.1/${encodeURIComponent(line)}` }).end(line),
  nowhere: ({ response, line }) => response.writeHead(302, { location: `http://[${line}` }).end(line),
  refused: ({ response, whole, line }) => {
    response.setHeader('www-authenticate', `Basic realm="${encodeURIComponent(line)}"`);
    send(response, 403, 'application/problem+json', JSON.stringify({ title: whole, error: { code: whole } }));
  },
  failing: ({ response, whole }) => send(response, 500, 'text/html', `<pre>${whole}</pre>`),
  cut: ({ response, whole }) => send(response, 200, 'text/plain', `${whole}\n`.repeat(200)),
  hanging: ({ response, whole }) => void response.writeHead(200, { 'content-type': 'text/plain' }).write(whole),
  broken: ({ response, whole }) => {
    response.writeHead(200, { 'content-type': 'text/plain', 'content-length': '999999' }).write(whole);
    setTimeout(() => response.destroy(), 50);
  },
  garbage: ({ request, line }) => void request.socket.end(`HTTP/1.1 200 OK\r\n${line}\r\n\r\n`),
};

/** What may be asked for: `/<way>/…`. Those at the end fail the run. */
export const LEAKING_WAYS: readonly string[] = [...Object.keys(ENCODINGS), ...Object.keys(WAYS)];

function findWay(name: string): Way | undefined {
  const encode = ENCODINGS[name];
  if (encode === undefined) return WAYS[name === 'landed' ? 'redirect' : name];
  const type = name === 'json' ? 'application/json' : 'text/plain';
  return ({ response, whole }) => send(response, 200, type, encode(whole));
}

/** Starts a {@link LeakingUpstream}. `/token-of-<label>` issues tokens (RFC 6749), none to `refused`, to which it gives its request back. */
export async function startLeakingUpstream(): Promise<LeakingUpstream> {
  const asked = new Map<string, number>();
  const arrived: string[] = [];
  const issued = new Map<string, readonly string[]>();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method, url = '', rawHeaders } = request;
    const whole = [`${method} ${url}`, ...rawHeaders, await text(request)].join('\n');
    arrived.push(whole);
    const name = /^\/([^/?]*)/.exec(url)?.[1] ?? '';
    asked.set(name, (asked.get(name) ?? 0) + 1);
    const label = /^token-of-(.+)/.exec(name)?.[1];
    if (label === 'refused') return sendRefusal(response, whole);
    if (label !== undefined) {
      const former = issued.get(label) ?? [];
      issued.set(label, [...former, ...sendTokens(response, `${label}/${former.length}`)]);
      return;
    }
    const way = findWay(name);
    if (way === undefined) throw new Error(`there is no way ${name} to answer`);
    way({ request, response, whole, line: whole.replaceAll('\n', ' ') });
  };
  const upstream = await startUpstream((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  return { ...upstream, asked, arrived, issued: (label) => issued.get(label) ?? [] };
}

/** @returns the tokens. */
function sendTokens(response: ServerResponse, mark: string): readonly string[] {
  const [access_token, refresh_token] = [`acc3ss/${mark}+Qx7!w2`, `ref-resh/${mark}+Qx7!w2`];
  const answer = { access_token, refresh_token, token_type: 'Bearer', expires_in: 3_600 };
  send(response, 200, 'application/json', JSON.stringify(answer));
  return [access_token, refresh_token];
}

function sendRefusal(response: ServerResponse, whole: string): void {
  send(response, 400, 'application/json', JSON.stringify({ error: 'invalid_grant', error_description: whole }));
}
