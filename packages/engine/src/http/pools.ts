import { type buildConnector, Client, Pool } from 'undici';

const ORIGINS_MAX = 256;
const CONNECTIONS_PER_ORIGIN_MAX = 64;
/** Calls at once over one HTTP/2 connection, the least that RFC 9113 6.5.2 recommends servers to allow. */
const STREAMS_MAX = 100;
/** Milliseconds after which an origin without calls is given up. Its sockets close earlier, after 4 s. */
const ORIGIN_IDLE_MS = 60_000;
/** A server's own `keep-alive: timeout` may lengthen the 4 s to this. */
const KEEP_ALIVE_MAX_MS = 60_000;

/** One connection pool per origin. */
export interface Pools {
  /** The origin's pool, kept open until {@link Lease.release}. */
  lease(origin: string): Lease;
  /** Ends every connection at once. */
  destroy(): Promise<void>;
}

/** The use of a pool by one exchange. */
export interface Lease {
  readonly pool: Pool;
  release(): void;
}

interface Entry {
  readonly pool: Pool;
  leases: number;
  usedAt: number;
}

/**
 * Builds the pools. At most 256 origins are held unless more are in use at the same moment; the longest unused go first.
 *
 * @param connect - opens sockets; this is where addresses are checked
 */
export function buildPools(connect: buildConnector.connector): Pools {
  const entries = new Map<string, Entry>();
  // HTTP/2 connections do not end by themselves: undici keeps them alive with pings.
  const sweep = setInterval(closeIdle, ORIGIN_IDLE_MS / 2, entries).unref();
  return {
    lease: (origin) => {
      const entry = entries.get(origin) ?? { pool: openPool(origin, connect), leases: 0, usedAt: 0 };
      entry.leases += 1;
      entry.usedAt = performance.now();
      // Re-inserted at the end: the map's order is the order of use.
      entries.delete(origin);
      entries.set(origin, entry);
      closeIdle(entries);
      let released = false;
      return {
        pool: entry.pool,
        release: () => {
          if (!released) entry.leases -= 1;
          released = true;
        },
      };
    },
    destroy: async () => {
      clearInterval(sweep);
      const pools = [...entries.values()].map((entry) => entry.pool);
      entries.clear();
      await Promise.all(pools.map((pool) => pool.destroy()));
    },
  };
}

function openPool(origin: string, connect: buildConnector.connector): Pool {
  return new Pool(origin, {
    connections: CONNECTIONS_PER_ORIGIN_MAX,
    allowH2: true,
    keepAliveMaxTimeout: KEEP_ALIVE_MAX_MS,
    // The deadline of the call bounds both.
    headersTimeout: 0,
    bodyTimeout: 0,
    factory: (url, options) => openClient(url, options, connect),
  });
}

/** undici puts one call at a time on a connection unless told more, which HTTP/2 is made for and HTTP/1.1 is not. */
function openClient(url: URL, options: Client.Options, connect: buildConnector.connector): Client {
  const client: Client = new Client(url, {
    ...options,
    connect: (target, callback) => {
      connect(target, (...[error, socket]) => {
        if (error !== null) return callback(error, null);
        client.pipelining = 'alpnProtocol' in socket && socket.alpnProtocol === 'h2' ? STREAMS_MAX : 1;
        return callback(null, socket);
      });
    },
  });
  return client;
}

function closeIdle(entries: Map<string, Entry>): void {
  const idleSince = performance.now() - ORIGIN_IDLE_MS;
  for (const [origin, entry] of entries) {
    if (entries.size <= ORIGINS_MAX && entry.usedAt > idleSince) return;
    if (entry.leases > 0) continue;
    entries.delete(origin);
    // No exchange uses the pool, so nothing can be cut short and nothing is left to report.
    entry.pool.destroy().catch(() => undefined);
  }
}
