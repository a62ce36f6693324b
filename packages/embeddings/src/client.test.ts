import type { ServerResponse } from 'node:http';
import type { EmbeddingSettings } from '@rowcall/config';
import { type EmbeddingsServer, sendEmbeddings, startEmbeddingsServer, toTestVector } from '@rowcall/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EmbeddingClient } from './client.js';
import { EmbeddingError } from './embedding-error.js';

const KEY = 'sk-a-key-that-nobody-may-see';
const PATIENT = { timeoutMs: 10_000 };

let server: EmbeddingsServer;
let clients: EmbeddingClient[];
beforeEach(async () => {
  server = await startEmbeddingsServer();
  clients = [];
});
afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await server.close();
});

function build(settings: Partial<EmbeddingSettings> = {}): EmbeddingClient {
  const client = new EmbeddingClient(
    { url: `${server.url}/v1/`, model: 'model-a', key: KEY, dimensions: undefined, ...settings },
    1,
  );
  clients.push(client);
  return client;
}

const failureOf = async (work: Promise<unknown>): Promise<EmbeddingError> => {
  const error = await work.catch((reason: unknown) => reason);
  if (!(error instanceof EmbeddingError)) throw new Error(`no EmbeddingError: ${String(error)}`);
  return error;
};

const lengthOf = (vector: Float32Array | undefined) => Math.hypot(...(vector ?? []));

describe('the client of an embeddings service', () => {
  it('asks as OpenAI’s is asked, and gives vectors of unit length in the order of the texts', async () => {
    const vectors = await build().embed(['one two', 'three'], PATIENT);
    expect(server.requests).toEqual([
      { url: '/v1/embeddings', authorization: `Bearer ${KEY}`, model: 'model-a', input: ['one two', 'three'] },
    ]);
    expect(vectors.map(lengthOf)).toEqual([expect.closeTo(1, 6), expect.closeTo(1, 6)]);
    const [one, three] = [toTestVector('one two'), toTestVector('three')];
    expect([...(vectors[0] ?? [])]).toEqual(one.map((number) => expect.closeTo(number / Math.hypot(...one), 6)));
    expect([...(vectors[1] ?? [])]).toEqual(three.map((number) => expect.closeTo(number, 6)));
  });

  it('asks for the dimensions that are set, keeps the query of its address, and sends no key where there is none', async () => {
    const [vector] = await build({ url: `${server.url}/v1?v=2`, key: undefined, dimensions: 8 }).embed(['a'], PATIENT);
    expect(vector).toHaveLength(8);
    expect(server.requests[0]).toEqual({ url: '/v1/embeddings?v=2', model: 'model-a', input: ['a'], dimensions: 8 });
  });

  const vector = [1, 2];
  const at = (index: unknown, embedding: unknown = vector) => ({ index, embedding });
  it.each([
    ['no JSON', (response: ServerResponse) => response.end('<html>')],
    ['no object', sendEmbeddings([1])],
    ['no data', sendEmbeddings({ data: null })],
    ['too few vectors', sendEmbeddings({ data: [at(0)] })],
    ['too many vectors', sendEmbeddings({ data: [at(0), at(1), at(2)] })],
    ['one place twice', sendEmbeddings({ data: [at(0), at(0)] })],
    ['a place that was not asked for', sendEmbeddings({ data: [at(0), at(2)] })],
    ['a place that is no number', sendEmbeddings({ data: [at(0), at('1')] })],
    ['no vector', sendEmbeddings({ data: [at(0), at(1, 'AACAPw==')] })],
    ['strings in a vector', sendEmbeddings({ data: [at(0), at(1, [1, '2'])] })],
    ['null in a vector', sendEmbeddings({ data: [at(0), at(1, [1, Number.NaN])] })],
    [
      'an infinite number',
      (response: ServerResponse) =>
        response.end('{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1,1e999]}]}'),
    ],
    ['a vector of nothing', sendEmbeddings({ data: [at(0), at(1, [0, 0])] })],
    ['an empty vector', sendEmbeddings({ data: [at(0, []), at(1, [])] })],
    ['vectors of two lengths', sendEmbeddings({ data: [at(0), at(1, [1, 2, 3])] })],
    ['too many dimensions', sendEmbeddings({ data: [0, 1].map((index) => at(index, new Array(4_097).fill(1))) })],
  ])('refuses %s', async (_name, answer) => {
    server.answer = answer;
    expect(await failureOf(build().embed(['a', 'b'], PATIENT))).toMatchObject({ failure: 'bad_answer' });
  });

  it('refuses another length than was asked for', async () => {
    server.answer = sendEmbeddings({ data: [at(0)] });
    const error = await failureOf(build({ dimensions: 8 }).embed(['a'], PATIENT));
    expect(error.message).toBe('the embeddings service answered a vector of 2 dimensions, not 8');
  });

  it('reads no more of a huge answer than vectors can need', async () => {
    let sent = 0;
    server.answer = (response) => {
      const more = () => {
        while (!response.destroyed) {
          sent += 65_536;
          if (!response.write(' '.repeat(65_536))) {
            response.once('drain', more);
            return;
          }
        }
      };
      more();
    };
    expect(await failureOf(build().embed(['a'], PATIENT))).toMatchObject({ failure: 'bad_answer' });
    expect(sent).toBeLessThan(16_000_000);
  });

  it('follows no redirect', async () => {
    server.answer = (response) => void response.writeHead(307, { location: `${server.url}/elsewhere` }).end();
    expect(await failureOf(build().embed(['a'], PATIENT))).toMatchObject({ failure: 'status' });
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    [400, 'refused', undefined, undefined],
    [413, 'refused', undefined, undefined],
    [401, 'status', undefined, undefined],
    [429, 'status', '7', 7_000],
    [503, 'status', 'Mon, 01 Jan 2001 00:00:00 GMT', 0],
    [503, 'status', '999999999', 3_600_000],
    [500, 'status', 'soon', undefined],
  ])('tells of %i as %s, with the wait that it asks for', async (status, failure, header, retryAfterMs) => {
    server.answer = sendEmbeddings({}, status, header === undefined ? {} : { 'retry-after': header });
    const error = await failureOf(build().embed(['a'], PATIENT));
    expect(error).toMatchObject({ failure, retryAfterMs });
    expect(error.message).toContain(String(status));
  });

  it('gives up a service that does not answer, or does not end its answer', async () => {
    const letGo = server.hold();
    expect(await failureOf(build().embed(['a'], { timeoutMs: 20 }))).toMatchObject({ failure: 'timeout' });
    letGo();
    server.answer = (response) => void response.writeHead(200).write('{"data":[');
    expect(await failureOf(build().embed(['a'], { timeoutMs: 20 }))).toMatchObject({ failure: 'timeout' });
  });

  it('says by its code why a service is out of reach', async () => {
    const error = await failureOf(build({ url: 'http://127.0.0.1:1' }).embed(['a'], PATIENT));
    expect(error).toMatchObject({
      failure: 'unreachable',
      message: 'the embeddings service is out of reach (ECONNREFUSED)',
    });
  });

  it('has the key in no error, also when the service answers with it', async () => {
    server.answer = sendEmbeddings({ error: `bad key ${KEY}` }, 401);
    const errors = [await failureOf(build().embed(['a'], PATIENT))];
    server.answer = sendEmbeddings({ data: KEY });
    errors.push(await failureOf(build().embed(['a'], PATIENT)));
    server.answer = (response) => void response.destroy();
    errors.push(await failureOf(build().embed(['a'], PATIENT)));
    for (const error of errors) {
      expect(`${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`).not.toContain(KEY);
    }
  });
});
