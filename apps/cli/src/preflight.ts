import { createServer } from 'node:net';
import { silentLog } from '@rowcall/protocol';

/** What keeps a port from being used, and what to do. */
const PORT_REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is taken by another program: end that, or set ROWCALL_PORT to another port (0: any free one)',
  EACCES: 'may not be used by this user: set ROWCALL_PORT to a port above 1023',
  EADDRNOTAVAIL: 'is not on an address of this machine: set ROWCALL_HOST to one that is',
  ENOTFOUND: 'is not on a host that this machine knows: set ROWCALL_HOST to an address of it',
};

/** Tries to listen for a moment. @throws Error naming port and setting, when the API could not. */
export async function checkPort(host: string, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reason =
        PORT_REASONS[error.code ?? ''] ?? `cannot be used (${error.message}): set ROWCALL_HOST or ROWCALL_PORT`;
      reject(new Error(`port ${port} of ${host} ${reason}`));
    });
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve()));
  });
}

/** Connects once. @throws Error naming the server, never the password, when that does not work within a few seconds. */
export async function checkDatabase(url: string): Promise<void> {
  // Loaded only here: a server with a database of its own starts sooner without it.
  const { openPool } = await import('@rowcall/store');
  const pool = openPool(url, { max: 1, name: 'rowcall-start', log: silentLog, queryTimeoutMs: 5_000 });
  try {
    await pool.query('select 1');
  } catch (error) {
    throw new Error(
      `the database at ${new URL(url).host || 'DATABASE_URL'} cannot be used (${toReason(error)}): ` +
        'check DATABASE_URL, or unset it and a database is started for you',
      { cause: error },
    );
  } finally {
    await pool.end();
  }
}

/** A host with several addresses fails once for each, in an error without words of its own. */
function toReason(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map((each: Error) => each.message).join(', ');
  return (error as Error).message;
}
