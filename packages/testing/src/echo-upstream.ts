import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A request as it arrived. */
export interface EchoedRequest {
  readonly method: string;
  /** The path without the query, not decoded. */
  readonly path: string;
  /** The request target as it stood in the request line. */
  readonly url: string;
  /** Decoded; a repeated parameter is an array. */
  readonly query: Readonly<Record<string, string | readonly string[]>>;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string;
}

/** A server that answers every request with what it received. */
export interface EchoUpstream extends TestUpstream {
  /** Every request so far, oldest first. */
  readonly requests: readonly EchoedRequest[];
}

/** A server of a test. */
export interface TestUpstream {
  /** Origin without a slash at the end, such as `http://127.0.0.1:43210`. */
  readonly url: string;
  close(): Promise<void>;
}

/** Starts an HTTP/1.1 server on a free port of 127.0.0.1 that answers as `listener` says. */
export async function startUpstream(listener: RequestListener): Promise<TestUpstream> {
  const server = createServer(listener);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error === undefined ? resolve() : reject(error)));
        server.closeAllConnections();
      }),
  };
}

/** Starts an {@link EchoUpstream}. It answers 200 and the {@link EchoedRequest} as JSON. */
export async function startEchoUpstream(): Promise<EchoUpstream> {
  const requests: EchoedRequest[] = [];
  const upstream = await startUpstream((request, response) => {
    answer(request, response, requests).catch((error: unknown) => response.destroy(error as Error));
  });
  return { ...upstream, requests };
}

async function answer(request: IncomingMessage, response: ServerResponse, requests: EchoedRequest[]): Promise<void> {
  const echoed = await toEchoed(request);
  requests.push(echoed);
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(echoed));
}

async function toEchoed(request: IncomingMessage): Promise<EchoedRequest> {
  const { method = '', url = '' } = request;
  const [path = '', ...search] = url.split('?');
  const parameters = new URLSearchParams(search.join('?'));
  const query = Object.fromEntries(
    [...new Set(parameters.keys())].map((name) => {
      const values = parameters.getAll(name);
      return [name, values.length === 1 ? (values[0] ?? '') : values];
    }),
  );
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, value ?? '']));
  return { method, path, url, query, headers, body: await text(request) };
}
