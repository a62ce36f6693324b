import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { startUpstream, type TestUpstream } from '@rowcall/testing';

/** A request for a token as it arrived. */
export interface TokenRequest {
  readonly method: string;
  readonly authorization: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly form: Readonly<Record<string, string>>;
}

/** Writes the answer to one request. */
export type TokenAnswer = (response: ServerResponse, request: TokenRequest) => void;

/** A provider of tokens (RFC 6749). */
export interface TokenServer extends TestUpstream {
  /** Every request so far, oldest first. */
  readonly requests: readonly TokenRequest[];
  /** Access tokens that were issued and not revoked. */
  readonly good: Set<string>;
  /** How requests are answered: by {@link issue} at first. */
  answer: TokenAnswer;
  /** Issues the next token, with `more` in the answer. */
  issue(more?: object): TokenAnswer;
  /** Resolves when so many requests have arrived. */
  untilAsked(count: number): Promise<void>;
}

/** Answers JSON. */
export const sendJson = (body: object, status = 200): TokenAnswer => {
  return (response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

/** Starts a {@link TokenServer} on a free port of 127.0.0.1. Its tokens are `access-1-…`, `access-2-…` and so on. */
export async function startTokenServer(): Promise<TokenServer> {
  const requests: TokenRequest[] = [];
  const good = new Set<string>();
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  let issued = 0;
  const issue =
    (more: object = {}): TokenAnswer =>
    (response, request) => {
      issued += 1;
      const token = `access-${issued}-${'k'.repeat(20)}`;
      good.add(token);
      sendJson({ access_token: token, token_type: 'Bearer', expires_in: 3600, ...more })(response, request);
    };
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const form = Object.fromEntries(new URLSearchParams(await text(request)));
    const { method = '', headers } = request;
    const arrived = { method, authorization: headers.authorization, headers, form };
    requests.push(arrived);
    server.answer(response, arrived);
    for (const { count, resolve } of waiting) if (requests.length >= count) resolve();
  };
  const upstream = await startUpstream((request, response) => {
    receive(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  const server: TokenServer = {
    ...upstream,
    requests,
    good,
    answer: issue(),
    issue,
    untilAsked: (count) =>
      new Promise((resolve) => {
        if (requests.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
  };
  return server;
}
