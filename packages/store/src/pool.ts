import type { Log } from '@rowcall/protocol';
import pg from 'pg';

/** How a pool of connections is opened. */
export interface PoolOptions {
  /** Connections at the most. */
  readonly max: number;
  /** Shown as `application_name` in pg_stat_activity. */
  readonly name: string;
  readonly log: Log;
  /** A statement that takes longer, in ms, fails, so that a dead network cannot hold a call for ever. */
  readonly queryTimeoutMs?: number;
}

/** How long, in ms, a call waits for a connection before it fails. */
const CONNECT_TIMEOUT_MS = 5_000;

/** How long, in ms, an unused connection is kept: a quiet minute must not cost the next call a name lookup and a login. */
const IDLE_TIMEOUT_MS = 300_000;

/**
 * Opens a pool of Postgres connections. Commits are durable whatever the server's default.
 * A connection that ends while idle is logged and replaced: without a listener it would end the process.
 */
export function openPool(url: string, options: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: options.max,
    application_name: options.name,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    query_timeout: options.queryTimeoutMs ?? 30_000,
    keepAlive: true,
    options: '-c synchronous_commit=on -c timezone=UTC',
  });
  // A connection that ends while it is lent out tells its query, and its own 'error' as well, which nobody else hears.
  pool.on('connect', (client) => {
    client.on('error', (error) => options.log.warn({ err: error, pool: options.name }, 'a database connection ended'));
  });
  pool.on('error', (error) => options.log.warn({ err: error, pool: options.name }, 'idle database connection ended'));
  return pool;
}

/** SQLSTATE classes of a server that is away, starting, stopping or full: the statement may be sent again. */
const TRANSIENT_CLASSES = new Set(['08', '53', '57', '40', '58']);
/** read_only_sql_transaction: this server is a standby until the failover is done. */
const READ_ONLY = '25006';

/** Tells whether a statement failed because of the connection or the server's state, not because of what it said. */
export function isTransient(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) {
    // FATAL ends the session, whatever it was about to say: no such database yet, no password yet, no room.
    if (error.severity === 'FATAL' || error.severity === 'PANIC' || error.code === READ_ONLY) return true;
    return TRANSIENT_CLASSES.has((error.code ?? '').slice(0, 2));
  }
  // What is left are errors of the socket and of pg's own state; a defect of ours is no reason to try again.
  return error instanceof Error && !(error instanceof TypeError || error instanceof RangeError);
}
