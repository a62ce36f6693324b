import type { AddressInfo } from 'node:net';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A way to a database that can be cut, as a broken network or a stopped server would. */
export interface DatabaseGate {
  /** Address of the database through the gate. */
  readonly url: string;
  /** Ends all connections and refuses new ones. */
  cut(): Promise<void>;
  restore(): Promise<void>;
  close(): Promise<void>;
}

/** Opens a port of 127.0.0.1 that leads to the database of `databaseUrl`. */
export async function openDatabaseGate(databaseUrl: string): Promise<DatabaseGate> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let server = await listen(0);
  const { port } = server.address() as AddressInfo;
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${port}`;

  function relay(client: Socket): void {
    const upstream = connect(Number(target.port || 5432), target.hostname);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  }

  function listen(at: number): Promise<Server> {
    return new Promise((resolve, reject) => {
      const opened = createServer(relay);
      opened.once('error', reject);
      opened.listen(at, '127.0.0.1', () => resolve(opened));
    });
  }

  async function cut(): Promise<void> {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  return {
    url: url.href,
    cut,
    async restore() {
      server = await listen(port);
    },
    close: cut,
  };
}
