import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A network between the test and Postgres that can fail. */
export interface TestProxy {
  /** Address of the database through the proxy. */
  readonly url: string;
  /** Ends every connection and refuses new ones, as a server that is down. */
  cut(): void;
  /** Swallows everything, in both directions, of the connections there are: no packet, no end. */
  freeze(): void;
  /** Lets new connections through. */
  restore(): void;
  close(): Promise<void>;
}

/** Starts a TCP proxy on loopback in front of the Postgres that `url` names. */
export async function startProxy(url: string): Promise<TestProxy> {
  const target = new URL(url);
  const pairs = new Set<readonly [Socket, Socket]>();
  let isCut = false;
  const destroyAll = () => {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
  };
  const server = createServer((client) => {
    if (isCut) {
      client.destroy();
      return;
    }
    const upstream = connect({ host: target.hostname, port: Number(target.port || 5432) });
    const pair = [client, upstream] as const;
    pairs.add(pair);
    for (const socket of pair) {
      socket.on('error', () => undefined);
      socket.on('close', () => {
        pairs.delete(pair);
        for (const other of pair) other.destroy();
      });
    }
    client.pipe(upstream);
    upstream.pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxied = new URL(url);
  proxied.hostname = '127.0.0.1';
  proxied.port = String((server.address() as AddressInfo).port);
  return {
    url: proxied.href,
    cut() {
      isCut = true;
      destroyAll();
    },
    freeze() {
      for (const pair of pairs) {
        for (const socket of pair) {
          socket.unpipe();
          socket.pause();
        }
      }
    },
    restore() {
      isCut = false;
    },
    async close() {
      destroyAll();
      server.close();
      await once(server, 'close');
    },
  };
}
