import type { Log } from '@rowcall/protocol';
import { Kysely, PostgresDialect } from 'kysely';
import type pg from 'pg';
import { openPool } from './pool.js';
import type { Database } from './schema.js';

/** The process's access to Postgres: one pool for the work, one that receipts have to themselves. */
export interface Store {
  readonly url: string;
  readonly db: Kysely<Database>;
  readonly pool: pg.Pool;
  /** Two connections that nothing else uses: a slow query cannot hold a receipt up. */
  readonly ledgerPool: pg.Pool;
  close(): Promise<void>;
}

/** What {@link openStore} needs. */
export interface StoreOptions {
  /** postgres:// address. */
  readonly url: string;
  /** Shown in pg_stat_activity, such as `rowcall-api`. */
  readonly name: string;
  readonly log: Log;
  /** Connections for everything but receipts; 10 when not given. */
  readonly poolMax?: number;
}

/** Opens the store. Connects at the first query, not here. */
export function openStore(options: StoreOptions): Store {
  if (options.url === '') throw new Error('openStore: the database url is empty');
  const { url, log, name } = options;
  const pool = openPool(url, { max: options.poolMax ?? 10, name, log });
  const ledgerPool = openPool(url, { max: 2, name: `${name}-ledger`, log, queryTimeoutMs: 10_000 });
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });
  let closing: Promise<void> | undefined;
  const close = async () => {
    await ledgerPool.end();
    // Kysely ends the pool only if it has ever used it.
    await db.destroy();
    if (!pool.ending) await pool.end();
  };
  return {
    url,
    db,
    pool,
    ledgerPool,
    close() {
      closing ??= close();
      return closing;
    },
  };
}
