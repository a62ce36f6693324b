import pg from 'pg';
import { vi } from 'vitest';

/** Opens a connection of its own, beside those of the store under test. */
export async function openClient(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined); // tests end connections from the other side
  await client.connect();
  return client;
}

/** Waits until `count` connections to the database wait for locks that others hold. */
export async function waitForLockWaiter(client: pg.Client, count = 1): Promise<void> {
  await vi.waitFor(
    async () => {
      const { rows } = await client.query(
        `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      if (rows.length < count) throw new Error(`${rows.length} connections wait for a lock, not ${count}`);
    },
    { timeout: 5_000, interval: 5 },
  );
}

/** Ends every connection to the database whose application_name is `name`. @returns how many there were. */
export async function terminateBackends(client: pg.Client, name: string): Promise<number> {
  const { rowCount } = await client.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name = $1 and pid <> pg_backend_pid()`,
    [name],
  );
  return rowCount ?? 0;
}
