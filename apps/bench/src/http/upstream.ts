import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { ITEM_REQUEST, type ItemBody, toItem } from './item.js';

/** How long, in ms, a connection may be idle: longer than any mode waits for its turn. */
const KEEP_ALIVE_MS = 600_000;

// The upstream's own process: it answers the one request that the row is to make, and says how often it did.
let served = 0;

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { note } = (await json(request)) as ItemBody;
  const isRight = request.method === 'POST' && request.url === ITEM_REQUEST.path && note === ITEM_REQUEST.body.note;
  const text = JSON.stringify(isRight ? toItem(note) : { error: `${request.method} ${request.url} ${note}` });
  served += 1;
  response.writeHead(isRight ? 200 : 400, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}

const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
  answer(request, response).catch((error: unknown) => response.destroy(error as Error));
});
process.on('disconnect', () => process.exit(0));
process.on('message', () => process.send?.({ served }));
server.listen(0, '127.0.0.1', () => {
  process.send?.({ ready: true, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
