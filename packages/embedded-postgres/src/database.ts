import pg from 'pg';
import type { LaunchPlan } from './options.js';
import { type ClusterSecrets, toScramVerifier } from './passwords.js';

/** The address of a database for a user, with what needs it percent-encoded (RFC 3986). */
export function toDatabaseUrl(port: number, user: 'postgres' | 'rowcall', password: string, database: string): string {
  return `postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`;
}

/** Any number: the lock that starts of one cluster share. */
const SETUP_LOCK = 7_236_183;

/**
 * Makes the role `rowcall` and its database where they are missing. Safe to repeat and to run twice at once; it also
 * proves that the server takes our password.
 */
export async function ensureDatabase(plan: LaunchPlan, port: number, secrets: ClusterSecrets): Promise<void> {
  const client = new pg.Client({
    host: '127.0.0.1',
    port,
    user: 'postgres',
    password: secrets.postgres,
    database: 'postgres',
    ssl: false,
    connectionTimeoutMillis: 10_000,
    query_timeout: 60_000,
    application_name: 'rowcall launcher',
  });
  client.on('error', () => undefined); // a server that goes away fails the query too
  try {
    await client.connect();
    await client.query('select pg_advisory_lock($1)', [SETUP_LOCK]);
    await ensureRole(client, secrets);
    const found = await client.query('select 1 from pg_database where datname = $1', [plan.database]);
    if (found.rowCount === 0) await createDatabase(client, plan.database);
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function ensureRole(client: pg.Client, secrets: ClusterSecrets): Promise<void> {
  const found = await client.query("select 1 from pg_roles where rolname = 'rowcall'");
  if (found.rowCount !== 0) return;
  const rights = secrets.ephemeral ? 'createdb' : 'nocreatedb';
  const verifier = client.escapeLiteral(await toScramVerifier(secrets.rowcall));
  await client.query(`create role rowcall login nosuperuser nocreaterole ${rights} password ${verifier}`);
}

async function createDatabase(client: pg.Client, database: string): Promise<void> {
  const name = client.escapeIdentifier(database);
  await client.query(`create database ${name} owner rowcall`);
  await client.query(`revoke all on database ${name} from public`);
}
