import { describe, expect, it } from 'vitest';
import { toLoadPlan } from '../testing/plan.js';
import { startServer } from '../testing/server.js';
import { generateLoad } from './generate.js';

describe('the load generator', () => {
  it('counts exactly the requests that the server answered, and sends what the plan says', async () => {
    let served = 0;
    const seen = new Set<string>();
    const url = await startServer(async (request, reply) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { method, url: path, headers } = request;
      seen.add(`${method} ${path} ${headers.authorization} ${headers['content-type']} ${Buffer.concat(chunks)}`);
      served += 1;
      reply.end(`{"ok":true,"n":${served}}`);
    });
    const result = await generateLoad(toLoadPlan(url));
    expect(result).toMatchObject({ answers: served, errors: 0, firstError: null });
    expect(result.latency.count).toBe(served);
    expect(result.answersInTime).toBeLessThanOrEqual(served);
    expect(result.samples).toHaveLength(Math.ceil(served / 10));
    expect([...seen]).toEqual(['POST /run?x=1 Bearer k application/json {"text":"æ"}']);
  });

  it('counts an answer with another status as an error and says what it was', async () => {
    const url = await startServer((_, reply) => {
      reply.statusCode = 503;
      reply.end('{"ok":true,"busy":1}');
    });
    const result = await generateLoad(toLoadPlan(url));
    expect(result.answers).toBe(0);
    expect(result.errors).toBeGreaterThan(0);
    expect(result.firstError).toBe('503 {"ok":true,"busy":1}');
  });

  it('counts a 200 with another body as an error', async () => {
    const url = await startServer((_, reply) => {
      reply.end('{"ok":false}');
    });
    expect(await generateLoad(toLoadPlan(url))).toMatchObject({ answers: 0, firstError: '200 {"ok":false}' });
  });

  it('counts a connection that breaks as an error and still ends', async () => {
    const url = await startServer((request) => {
      request.socket.destroy();
    });
    expect(await generateLoad(toLoadPlan(url))).toMatchObject({ answers: 0, errors: 4 });
  });

  it('puts a body together that comes in pieces', async () => {
    const url = await startServer((_, reply) => {
      reply.writeHead(200, { 'content-length': '20' });
      reply.write('{"ok":true');
      setTimeout(() => reply.end(',"n":1234}'), 2);
    });
    const result = await generateLoad(toLoadPlan(url, { sampleEvery: 1 }));
    expect(result.errors).toBe(0);
    expect(new Set(result.samples)).toEqual(new Set(['{"ok":true,"n":1234}']));
  });
});
