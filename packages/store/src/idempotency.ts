import { type Kysely, sql } from 'kysely';
import { DONE_CHANNEL } from './job.js';
import type { Database } from './schema.js';

type Db = Kysely<Database>;

/** Days that an Idempotency-Key is remembered. */
export const IDEMPOTENCY_DAYS = 7;

/** What a caller's Idempotency-Key stands for. */
export interface KnownRequest {
  readonly requestHash: string;
  readonly invocationId: string;
  /** The first answer, sealed; null while there is none. */
  readonly answer: Buffer | null;
}

/** The request that has the key; undefined for a key that is new. */
export async function findKnownRequest(
  db: Db,
  { actor, keyHash }: { actor: string; keyHash: string },
): Promise<KnownRequest | undefined> {
  const row = await db
    .selectFrom('idempotency')
    .select(['request_hash', 'invocation_id', 'answer'])
    .where('actor', '=', actor)
    .where('key_hash', '=', keyHash)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  return { requestHash: row.request_hash, invocationId: row.invocation_id, answer: row.answer };
}

/**
 * Keeps the first answer to a request and wakes those who wait for it. An answer that is there stays.
 * @returns the answer that is kept; undefined when the call does not have the key.
 */
export async function saveAnswer(
  db: Db,
  { actor, keyHash, invocationId, answer }: { actor: string; keyHash: string; invocationId: string; answer: Buffer },
): Promise<Buffer | undefined> {
  const { rows } = await sql<{ answer: Buffer }>`
    with kept as (
      update idempotency set answer = coalesce(answer, ${answer})
      where actor = ${actor} and key_hash = ${keyHash} and invocation_id = ${invocationId}
      returning answer, invocation_id
    )
    select answer, pg_notify(${DONE_CHANNEL}, invocation_id) from kept`.execute(db);
  return rows[0]?.answer;
}

/** Keys that are forgotten in one statement. */
const DELETE_MAX = 1_000;

/** Forgets keys that are older than {@link IDEMPOTENCY_DAYS} and whose calls have ended. */
export async function deleteOldKeys(db: Db): Promise<void> {
  for (;;) {
    const { numAffectedRows = 0n } = await sql`
      delete from idempotency where (actor, key_hash) in (
        select actor, key_hash from idempotency i
        where created_at < now() - ${IDEMPOTENCY_DAYS} * interval '1 day'
          and not exists (select from opened where opened.id = i.invocation_id)
          and not exists (select from job where job.id = i.invocation_id)
          and not exists (select from approval where approval.id = i.invocation_id and state = 'waiting')
        limit ${DELETE_MAX}
      )`.execute(db);
    if (numAffectedRows < DELETE_MAX) return;
  }
}
