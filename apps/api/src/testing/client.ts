import type { FastifyInstance } from 'fastify';

/** An answer as a client sees it. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | number | undefined>>;
  readonly text: string;
  /** The body as JSON. @throws when it is not. */
  json<Body = Readonly<Record<string, unknown>>>(): Body;
}

/** What goes with a request. A body that is no string is sent as JSON. */
export interface Extras {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends requests through the whole of an app, without a port. */
export interface Client {
  send(method: string, url: string, extras?: Extras): Promise<Answer>;
  get(url: string, headers?: Extras['headers']): Promise<Answer>;
  post(url: string, body: unknown, headers?: Extras['headers']): Promise<Answer>;
  /** POST /api/dispatch. */
  invoke(body: object, headers?: Extras['headers']): Promise<Answer>;
}

let addresses = 0;

function nextAddress(): string {
  addresses += 1;
  return `10.${addresses >> 16}.${(addresses >> 8) & 255}.${addresses & 255}`;
}

/** Builds a client that sends `headers` with every request. */
export function buildClient(app: FastifyInstance, headers: Readonly<Record<string, string>>): Client {
  async function send(method: string, url: string, extras: Extras = {}): Promise<Answer> {
    const { body } = extras;
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const response = await app.inject({
      method: method as 'GET',
      url,
      headers: { ...type, ...headers, ...extras.headers },
      remoteAddress: nextAddress(),
      ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return {
      status: response.statusCode,
      headers: response.headers,
      text: response.body,
      json: <Body>() => JSON.parse(response.body) as Body,
    };
  }
  return {
    send,
    get: (url, more = {}) => send('GET', url, { headers: more }),
    post: (url, body, more = {}) => send('POST', url, { body, headers: more }),
    invoke: (body, more = {}) => send('POST', '/api/dispatch', { body, headers: more }),
  };
}
