import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addBodyDeadline } from './body-deadline.js';
import { addProblems } from './problem.js';

let app: FastifyInstance;
let port: number;
beforeAll(async () => {
  app = Fastify({ forceCloseConnections: true });
  addProblems(app);
  addBodyDeadline(app, 50);
  app.post('/quick', async () => 'ok');
  app.post('/slow', { config: { slowBody: true } }, async () => 'ok');
  port = Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port);
});
afterAll(() => app.close());

/** Sends a JSON body in two halves. @returns all that was answered until the connection ended. */
async function send(path: string, pauseMs: number): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  const head = `POST ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: 4\r\n`;
  socket.write(`${head}\r\ntr`);
  setTimeout(() => socket.write('ue'), pauseMs);
  return text(socket);
}

describe('a body', () => {
  it('that does not arrive in time is answered 408, and the connection ends', async () => {
    const answer = await send('/quick', 60_000);
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(answer).toContain('"error":"request_timeout"');
  });

  it('that arrives in time is taken', async () => {
    expect(await send('/quick', 1)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('may take longer where its route says so', async () => {
    expect(await send('/slow', 150)).toMatch(/^HTTP\/1\.1 200 /);
  });
});
