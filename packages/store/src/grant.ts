import type { Grant, GrantUse } from '@rowcall/grants';
import { grantTermsSchema, type JsonObject } from '@rowcall/protocol';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Database } from './schema.js';

type Db = Kysely<Database>;

/** Channel that is notified when a grant is revoked; the payload is its fingerprint. */
export const GRANT_CHANNEL = 'rowcall_grant';

/** A grant as it is minted. */
export interface NewGrant {
  readonly grant: Grant;
  /** SHA-256 of the token, lower-case hex. */
  readonly tokenHash: string;
  readonly createdBy: string;
  readonly reason: string | null;
}

interface GrantRow {
  readonly fingerprint: string;
  readonly parent: string | null;
  readonly depth: number;
  readonly terms: JsonObject;
  readonly purpose: string;
  readonly actor: string | null;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly revoked_at: Date | null;
  readonly uses: string;
  readonly spent_usd: string;
}

const columnsOf = (alias: string): RawBuilder<unknown> =>
  sql.raw(
    ['fingerprint', 'parent', 'depth', 'terms', 'purpose', 'actor', 'created_at', 'expires_at', 'revoked_at']
      .concat('uses', 'spent_usd')
      .map((column) => `${alias}.${column}`)
      .join(', '),
  );

/** @throws Error for terms that lack a member: a limit that cannot be read is no absent limit. */
const toUse = (row: GrantRow): GrantUse => ({
  grant: {
    fingerprint: row.fingerprint,
    parent: row.parent,
    depth: row.depth,
    purpose: row.purpose,
    actor: row.actor,
    created_at: row.created_at.getTime(),
    expires_at: row.expires_at.getTime(),
    revoked_at: row.revoked_at?.getTime() ?? null,
    terms: grantTermsSchema.parse(row.terms),
  },
  uses: Number(row.uses),
  spent_usd: Number(row.spent_usd),
});

/** Writes a grant and its event `GRANT_MINT`, in one statement. */
export async function insertGrant(db: Db, { grant, tokenHash, createdBy, reason }: NewGrant): Promise<void> {
  const { fingerprint, parent, depth, terms, purpose, actor } = grant;
  const detail = JSON.stringify({ grant: fingerprint, parent, purpose });
  await sql`
    with minted as (
      insert into capability_grant
        (fingerprint, token_hash, parent, depth, terms, purpose, actor, created_by, created_at, expires_at)
      values (${fingerprint}, ${tokenHash}, ${parent}, ${depth}, ${JSON.stringify(terms)}, ${purpose}, ${actor},
              ${createdBy}, ${new Date(grant.created_at)}, ${new Date(grant.expires_at)})
    )
    insert into event (kind, actor, reason, detail)
    values ('GRANT_MINT', ${createdBy}, ${reason}, ${detail})`.execute(db);
}

/** How a grant is named: by the hash of its token, or by its fingerprint. */
export type GrantName = { readonly tokenHash: string } | { readonly fingerprint: string };

/** The grant and those that it was made from, the first of them first; empty when there is none of that name. */
export async function findGrantChain(db: Db, name: GrantName): Promise<GrantUse[]> {
  const condition = 'tokenHash' in name ? sql`token_hash = ${name.tokenHash}` : sql`fingerprint = ${name.fingerprint}`;
  const { rows } = await sql<GrantRow>`
    with recursive chain as (
      select * from capability_grant where ${condition}
      union all
      select above.* from capability_grant above join chain on above.fingerprint = chain.parent
    )
    select ${columnsOf('chain')} from chain order by depth`.execute(db);
  return rows.map(toUse);
}

/**
 * Grants, newest first, each with those that it was made from before it. `before` is the fingerprint of the last one of
 * the page before, `within` of one that all derive from.
 */
export async function listGrants(
  db: Db,
  { limit, before, within }: { limit: number; before?: string | undefined; within?: string | undefined },
): Promise<GrantUse[][]> {
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
  const { rows } = await sql<GrantRow & { leaf: string }>`
    with recursive page as (
      select g.* from ${source} as g where ${after} order by g.created_at desc, g.fingerprint desc limit ${limit}
    ),
    chain as (
      select page.fingerprint as leaf, page.created_at as leaf_at, page.* from page
      union all
      select chain.leaf, chain.leaf_at, above.* from capability_grant above join chain on above.fingerprint = chain.parent
    )
    select leaf, ${columnsOf('chain')} from chain order by leaf_at desc, leaf desc, depth`.execute(db);
  const chains = new Map<string, GrantUse[]>();
  for (const row of rows) chains.set(row.leaf, [...(chains.get(row.leaf) ?? []), toUse(row)]);
  return [...chains.values()];
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
    with locked as (
      -- As it is now, not as it was when the statement began: of two that revoke at once, the second is told of the first.
      select fingerprint, revoked_at from capability_grant where fingerprint = ${fingerprint} for no key update
    ),
    revoked as (
      update capability_grant g set revoked_at = now() from locked
      where g.fingerprint = locked.fingerprint and locked.revoked_at is null
      returning g.revoked_at
    ),
    told as (
      insert into event (kind, actor, reason, detail)
      select 'GRANT_REVOKE', ${by.actor}, ${by.reason}, ${JSON.stringify({ grant: fingerprint })}::jsonb from revoked
    )
    select coalesce((select revoked_at from revoked), locked.revoked_at) as revoked_at from locked`.execute(db);
  return rows[0]?.revoked_at;
}
