import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { startUpstream, type TestUpstream } from './echo-upstream.js';

/** A request for vectors as it arrived. */
export interface EmbeddingsRequest {
  readonly url: string;
  readonly authorization: string | undefined;
  readonly model: string;
  readonly input: readonly string[];
  readonly dimensions: number | undefined;
}

/** Writes the answer to one request. */
export type EmbeddingsAnswer = (response: ServerResponse, request: EmbeddingsRequest) => void;

/** An OpenAI-compatible service of a test. */
export interface EmbeddingsServer extends TestUpstream {
  /** Every request so far, oldest first. */
  readonly requests: readonly EmbeddingsRequest[];
  /** How requests are answered: with the vectors of {@link toTestVector} at first. */
  answer: EmbeddingsAnswer;
  /** Resolves when so many requests have arrived. */
  untilAsked(count: number): Promise<void>;
  /** Leaves requests unanswered from now on. @returns answers those that wait, and those to come. */
  hold(): () => void;
}

/** Dimensions of a vector where the request names none. */
const DIMENSIONS = 16;

/** The vector of a text, always the same: its words, each hashed to one of the dimensions. */
export function toTestVector(input: string, dimensions = DIMENSIONS): number[] {
  const vector = new Array<number>(dimensions).fill(0);
  for (const word of input.toLowerCase().match(/[a-z0-9]+/g) ?? ['']) {
    const at = (createHash('sha256').update(word).digest()[0] ?? 0) % dimensions;
    vector[at] = (vector[at] ?? 0) + 1;
  }
  return vector;
}

/** Answers with any JSON. */
export const sendEmbeddings = (body: unknown, status = 200, headers: Record<string, string> = {}): EmbeddingsAnswer => {
  return (response) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
};

/** Answers as a service does that is well. */
export const sendTestVectors: EmbeddingsAnswer = (response, request) => {
  const data = request.input.map((input, index) => ({ index, embedding: toTestVector(input, request.dimensions) }));
  // The order of the answer is the service's own affair.
  sendEmbeddings({ object: 'list', data: data.reverse() })(response, request);
};

/** Starts an {@link EmbeddingsServer} on a free port of 127.0.0.1. */
export async function startEmbeddingsServer(): Promise<EmbeddingsServer> {
  const requests: EmbeddingsRequest[] = [];
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = JSON.parse(await text(request)) as Pick<EmbeddingsRequest, 'model' | 'input' | 'dimensions'>;
    const arrived = { ...body, url: request.url ?? '', authorization: request.headers.authorization };
    requests.push(arrived);
    server.answer(response, arrived);
    for (const { count, resolve } of waiting) if (requests.length >= count) resolve();
  };
  const upstream = await startUpstream((request, response) => {
    receive(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  const server: EmbeddingsServer = {
    ...upstream,
    requests,
    answer: sendTestVectors,
    untilAsked: (count) =>
      new Promise((resolve) => {
        if (requests.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
    hold() {
      const held: (() => void)[] = [];
      const { answer } = server;
      server.answer = (response, request) => void held.push(() => answer(response, request));
      return () => {
        server.answer = answer;
        for (const go of held) go();
      };
    },
  };
  return server;
}
