import { describe, expect, it } from 'vitest';
import { toLoadPlan } from '../testing/plan.js';
import { startServer } from '../testing/server.js';
import { callAsPlanned } from './call.js';
import type { PacedPlan } from './load.js';
import { toArrivals } from './pace.js';

const toPlan = (url: string, more: Partial<PacedPlan> = {}): PacedPlan => ({
  ...toLoadPlan(url),
  ratePerSecond: undefined,
  ...more,
});

describe('a program that calls', () => {
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
    const result = await callAsPlanned(toPlan(url));
    expect(result).toMatchObject({ answers: served, errors: 0, firstError: null });
    expect(result.late).toBeUndefined();
    expect(result.samples).toHaveLength(Math.ceil(served / 10));
    expect([...seen]).toEqual(['POST /run?x=1 Bearer k application/json {"text":"æ"}']);
  });

  it('has no more requests under way than connections', async () => {
    let underWay = 0;
    let most = 0;
    const url = await startServer((_, reply) => {
      underWay += 1;
      most = Math.max(most, underWay);
      setTimeout(() => {
        underWay -= 1;
        reply.end('{"ok":true}');
      }, 2);
    });
    await callAsPlanned(toPlan(url, { ratePerSecond: 5_000 }));
    await callAsPlanned(toPlan(url));
    expect(most).toBe(4);
  });

  it('by a pace sends as many as are due, though no answer has come, and counts their wait', async () => {
    const due = [...toArrivals(1_000, 60)].length;
    const held: (() => void)[] = [];
    const url = await startServer((_, reply) => {
      const answer = () => reply.end('{"ok":true}');
      if (held.length < due) held.push(answer);
      if (held.length === due) for (const end of held) end();
    });
    const result = await callAsPlanned(toPlan(url, { ratePerSecond: 1_000, connections: due }));
    expect(result).toMatchObject({ answers: due, errors: 0, late: { count: due } });
  });

  it('counts another status, another body and a broken connection as errors, and still ends', async () => {
    const answers: Record<string, string> = { '/status': '{"ok":true}', '/body': '{"ok":false}' };
    const url = await startServer((request, reply) => {
      const body = answers[request.url ?? ''];
      if (body === undefined) return request.socket.destroy();
      reply.statusCode = request.url === '/status' ? 503 : 200;
      return reply.end(body);
    });
    const call = (path: string) => callAsPlanned(toPlan(new URL(path, url).href));
    expect(await call('/status')).toMatchObject({ answers: 0, firstError: '503 {"ok":true}' });
    expect(await call('/body')).toMatchObject({ answers: 0, firstError: '200 {"ok":false}' });
    expect(await call('/broken')).toMatchObject({ answers: 0, errors: 4 });
  });
});
