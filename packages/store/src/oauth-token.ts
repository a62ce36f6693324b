import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Database } from './schema.js';

type Db = Kysely<Database>;

/** Names a token: the label, and a SHA-256 (hex) of what it was got with. */
export interface OauthTokenKey {
  readonly label: string;
  readonly configHash: string;
}

/** A token as it is kept. */
export interface StoredOauthToken {
  /** Null when none was stored yet. */
  readonly sealed: Buffer | null;
  /** Milliseconds that the access token is still good for, by the database's clock; null when that is not known. */
  readonly expiresInMs: number | null;
  /** Goes up with every token stored; 0 for none. */
  readonly generation: number;
}

interface Row {
  readonly sealed: Buffer | null;
  readonly expires_in_ms: number | null;
  readonly generation: string;
}

const COLUMNS = sql`sealed, generation, (extract(epoch from expires_at - clock_timestamp()) * 1000)::float8 as expires_in_ms`;

const ms = (count: number): RawBuilder<unknown> => sql`${count}::float8 * interval '1 millisecond'`;

const toStored = ({ sealed, expires_in_ms, generation }: Row): StoredOauthToken => ({
  sealed,
  expiresInMs: expires_in_ms,
  generation: Number(generation),
});

/** The token that is stored, or undefined when nothing is known of it. */
export async function findOauthToken(db: Db, { label, configHash }: OauthTokenKey) {
  const { rows } = await sql<Row>`
    select ${COLUMNS} from oauth_token where label = ${label} and config_hash = ${configHash}`.execute(db);
  return rows.map(toStored)[0];
}

/**
 * Takes the lease on a token: for `leaseMs` nobody else gets it, unless its owner releases it or stores a token. An owner
 * that could not release one gets it again.
 * @returns what is stored; undefined when another owner holds the lease.
 */
export async function claimOauthToken(
  db: Db,
  { label, configHash }: OauthTokenKey,
  { owner, leaseMs }: { owner: string; leaseMs: number },
): Promise<StoredOauthToken | undefined> {
  const { rows } = await sql<Row>`
    insert into oauth_token as held (label, config_hash, lease_owner, lease_until)
    values (${label}, ${configHash}, ${owner}, clock_timestamp() + ${ms(leaseMs)})
    on conflict (label, config_hash) do update
      set lease_owner = excluded.lease_owner, lease_until = excluded.lease_until
      where held.lease_until is null or held.lease_until < clock_timestamp() or held.lease_owner = excluded.lease_owner
    returning ${COLUMNS}`.execute(db);
  return rows.map(toStored)[0];
}

/**
 * Stores a token in the place of the one of `generation`, and gives the owner's lease back.
 * @returns false, with nothing changed, when another token was stored meanwhile.
 */
export async function saveOauthToken(
  db: Db,
  { label, configHash }: OauthTokenKey,
  token: { sealed: Buffer; expiresInMs: number | null; generation: number; owner: string },
): Promise<boolean> {
  const { sealed, expiresInMs, generation, owner } = token;
  const expiresAt = expiresInMs === null ? sql`null` : sql`clock_timestamp() + ${ms(expiresInMs)}`;
  const { numAffectedRows } = await sql`
    update oauth_token set
      sealed = ${sealed}, expires_at = ${expiresAt}, generation = generation + 1, updated_at = now(),
      lease_until = case when lease_owner = ${owner} then null else lease_until end,
      lease_owner = nullif(lease_owner, ${owner})
    where label = ${label} and config_hash = ${configHash} and generation = ${generation}`.execute(db);
  return numAffectedRows === 1n;
}

/** Gives a lease back, if it is still the owner's. */
export async function releaseOauthToken(db: Db, { label, configHash }: OauthTokenKey, owner: string): Promise<void> {
  await sql`
    update oauth_token set lease_owner = null, lease_until = null
    where label = ${label} and config_hash = ${configHash} and lease_owner = ${owner}`.execute(db);
}
