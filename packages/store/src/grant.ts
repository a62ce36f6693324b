import type { JsonObject } from '@rowcall/protocol';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Database } from './schema.js';

type Db = Kysely<Database>;

/** Channel that is notified when a grant is revoked; the payload is its fingerprint. */
export const GRANT_CHANNEL = 'rowcall_grant';

/** A grant as it is minted. */
export interface NewGrant {
  readonly fingerprint: string;
  /** SHA-256 of the token, lower-case hex. */
  readonly tokenHash: string;
  /** Fingerprint of the grant that it is narrower than; null for one that the owner made. */
  readonly parent: string | null;
  readonly depth: number;
  readonly terms: JsonObject;
  readonly purpose: string;
  readonly actor: string | null;
  readonly createdBy: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** A grant as it is kept, with what is used up of it. Times are milliseconds since 1970. */
export interface StoredGrant extends Omit<NewGrant, 'tokenHash'> {
  readonly revokedAt: number | null;
  /** Counted only where the grant has a limit. */
  readonly uses: number;
  readonly spentUsd: number;
  /** Calls in the minute that began with the first of them; 0 when it is over. */
  readonly callsThisMinute: number;
}

interface GrantRow {
  readonly fingerprint: string;
  readonly parent: string | null;
  readonly depth: number;
  readonly terms: JsonObject;
  readonly purpose: string;
  readonly actor: string | null;
  readonly created_by: string;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly revoked_at: Date | null;
  readonly uses: string;
  readonly spent_usd: string;
  readonly calls_this_minute: number;
}

const columnsOf = (alias: string): RawBuilder<unknown> => {
  const g = sql.raw(alias);
  return sql`${g}.fingerprint, ${g}.parent, ${g}.depth, ${g}.terms, ${g}.purpose, ${g}.actor, ${g}.created_by,
    ${g}.created_at, ${g}.expires_at, ${g}.revoked_at, ${g}.uses, ${g}.spent_usd,
    case when ${g}.window_at > now() - interval '1 minute' then ${g}.window_calls else 0 end as calls_this_minute`;
};

const toStored = (row: GrantRow): StoredGrant => ({
  fingerprint: row.fingerprint,
  parent: row.parent,
  depth: row.depth,
  terms: row.terms,
  purpose: row.purpose,
  actor: row.actor,
  createdBy: row.created_by,
  createdAt: row.created_at.getTime(),
  expiresAt: row.expires_at.getTime(),
  revokedAt: row.revoked_at?.getTime() ?? null,
  uses: Number(row.uses),
  spentUsd: Number(row.spent_usd),
  callsThisMinute: row.calls_this_minute,
});

/** Writes a grant and its event `GRANT_MINT`, in one statement. */
export async function insertGrant(db: Db, grant: NewGrant, reason: string | null): Promise<void> {
  const detail = JSON.stringify({ grant: grant.fingerprint, parent: grant.parent, purpose: grant.purpose });
  await sql`
    with minted as (
      insert into capability_grant
        (fingerprint, token_hash, parent, depth, terms, purpose, actor, created_by, created_at, expires_at)
      values (${grant.fingerprint}, ${grant.tokenHash}, ${grant.parent}, ${grant.depth}, ${JSON.stringify(grant.terms)},
              ${grant.purpose}, ${grant.actor}, ${grant.createdBy}, ${new Date(grant.createdAt)},
              ${new Date(grant.expiresAt)})
    )
    insert into event (kind, actor, reason, detail)
    values ('GRANT_MINT', ${grant.createdBy}, ${reason}, ${detail})`.execute(db);
}

/** How a grant is named: by the hash of its token, or by its fingerprint. */
export type GrantName = { readonly tokenHash: string } | { readonly fingerprint: string };

/** The grant and those that it was made from, the first of them first; empty when there is none of that name. */
export async function findGrantChain(db: Db, name: GrantName): Promise<StoredGrant[]> {
  const condition = 'tokenHash' in name ? sql`token_hash = ${name.tokenHash}` : sql`fingerprint = ${name.fingerprint}`;
  const { rows } = await sql<GrantRow>`
    with recursive chain as (
      select * from capability_grant where ${condition}
      union all
      select above.* from capability_grant above join chain on above.fingerprint = chain.parent
    )
    select ${columnsOf('chain')} from chain order by depth`.execute(db);
  return rows.map(toStored);
}

/** Grants, newest first. `before` is the fingerprint of the last one of the page before. */
export async function listGrants(
  db: Db,
  { limit, before, within }: { limit: number; before?: string | undefined; within?: string | undefined },
): Promise<StoredGrant[]> {
  const after =
    before === undefined
      ? sql`true`
      : sql`(created_at, fingerprint) < (select created_at, fingerprint from capability_grant where fingerprint = ${before})`;
  const source =
    within === undefined
      ? sql`capability_grant`
      : sql`(
          with recursive below as (
            select * from capability_grant where fingerprint = ${within}
            union all
            select child.* from capability_grant child join below on child.parent = below.fingerprint
          )
          select * from below)`;
  const { rows } = await sql<GrantRow>`
    select ${columnsOf('g')} from ${source} as g where ${after}
    order by g.created_at desc, g.fingerprint desc limit ${limit}`.execute(db);
  return rows.map(toStored);
}

/**
 * Revokes a grant, and with it all that were made from it; writes the event `GRANT_REVOKE`, in one statement.
 * @returns when it was revoked, the first time; undefined when there is no such grant.
 */
export async function revokeGrant(
  db: Db,
  fingerprint: string,
  by: { actor: string; reason: string | null },
): Promise<Date | undefined> {
  const { rows } = await sql<{ revoked_at: Date }>`
    with revoked as (
      update capability_grant set revoked_at = now() where fingerprint = ${fingerprint} and revoked_at is null
      returning revoked_at
    ),
    told as (
      insert into event (kind, actor, reason, detail)
      select 'GRANT_REVOKE', ${by.actor}, ${by.reason}, ${JSON.stringify({ grant: fingerprint })}::jsonb from revoked
    )
    select revoked_at from revoked
    union all
    select revoked_at from capability_grant where fingerprint = ${fingerprint} and revoked_at is not null
    limit 1`.execute(db);
  return rows[0]?.revoked_at;
}
