import type { Effect } from '@rowcall/protocol';
import { type Kysely, type Selectable, sql } from 'kysely';
import { insertEvent } from './event.js';
import type { ApprovalTable, Database } from './schema.js';

type Db = Kysely<Database>;

/** A call that is to wait for a person. */
export interface NewApproval {
  /** The id of the receipt that the call will leave. */
  readonly id: string;
  readonly trace: string;
  readonly key: string;
  readonly actor: string;
  /** Fingerprint of the owner's grant that the caller's derives from. */
  readonly origin: string;
  readonly effect: Effect;
  readonly inputHash: string;
  readonly contractFingerprint: string;
  /** JSON text of what went in, redacted. */
  readonly request: string;
  readonly requestRedacted: boolean;
  /** The call, as JSON text; kept until it is decided. */
  readonly call: string;
  readonly reason: string | null;
  readonly onBehalfOf: string | null;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** A call that waits, or waited, for a person. */
export type StoredApproval = Selectable<ApprovalTable>;

/**
 * Parks a call, which was opened where an Idempotency-Key names it, and writes the event `APPROVAL_REQUEST`.
 * @returns false when the callers of its origin have `waitingMax` calls waiting already: then nothing was parked. Counted by
 * the caller alone, a holder could derive as many callers as it wants.
 */
export async function insertApproval(db: Db, approval: NewApproval, waitingMax: number): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    // Else calls of one origin that come together would not count each other.
    await sql`select pg_advisory_xact_lock(hashtextextended(${`rowcall approvals of ${approval.origin}`}, 0))`.execute(
      tx,
    );
    const { rows } = await sql`
      insert into approval (id, trace, key, actor, origin, effect, input_hash, contract_fingerprint, request,
        request_redacted, call, reason, on_behalf_of, expires_at)
      select ${approval.id}, ${approval.trace}, ${approval.key}, ${approval.actor}, ${approval.origin},
        ${approval.effect}, ${approval.inputHash}, ${approval.contractFingerprint}, ${approval.request},
        ${approval.requestRedacted}, ${approval.call}, ${approval.reason}, ${approval.onBehalfOf},
        ${new Date(approval.expiresAt)}
      where (select count(*) from approval where origin = ${approval.origin} and state = 'waiting') < ${waitingMax}
      returning id`.execute(tx);
    if (rows.length === 0) return false;
    await tx.deleteFrom('opened').where('id', '=', approval.id).execute();
    await insertEvent(tx, {
      kind: 'APPROVAL_REQUEST',
      actor: approval.actor,
      key: approval.key,
      ...(approval.reason === null ? {} : { reason: approval.reason }),
      detail: { receipt: approval.id, effect: approval.effect, contract: approval.contractFingerprint },
    });
    return true;
  });
}

/** @returns the call that waits or waited, or undefined when there is none of that id. */
export function findApproval(db: Db, id: string): Promise<StoredApproval | undefined> {
  return db.selectFrom('approval').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Calls that wait or waited, newest first. `before` is the id of the last one of the page before. */
export async function listApprovals(
  db: Db,
  {
    state,
    actor,
    before,
    limit,
  }: {
    state?: StoredApproval['state'] | undefined;
    actor?: string | undefined;
    before?: string | undefined;
    limit: number;
  },
): Promise<StoredApproval[]> {
  let query = db.selectFrom('approval').selectAll();
  if (state !== undefined) query = query.where('state', '=', state);
  if (actor !== undefined) query = query.where('actor', '=', actor);
  if (before !== undefined) query = query.where('id', '<', before);
  return query.orderBy('id', 'desc').limit(limit).execute();
}

/** Who decides, and why. */
export interface Decider {
  readonly actor: string;
  readonly reason: string | null;
}

/**
 * Decides a call that waits, and writes the event `APPROVAL_<state>`. To be called in a transaction with what follows.
 * @returns false when it no longer waits: somebody else decided, or it expired.
 */
export async function decideApproval(
  tx: Db,
  id: string,
  { state, by }: { state: 'approved' | 'denied' | 'expired'; by: Decider },
): Promise<boolean> {
  const decided = await tx
    .updateTable('approval')
    .set({
      state,
      call: null,
      decided_at: sql<Date>`now()`,
      decided_by: by.actor,
      decision_reason: by.reason,
    })
    .where('id', '=', id)
    .where('state', '=', 'waiting')
    .returning(['key', 'actor'])
    .executeTakeFirst();
  if (decided === undefined) return false;
  await insertEvent(tx, {
    kind: `APPROVAL_${state.toUpperCase()}`,
    actor: by.actor,
    key: decided.key,
    ...(by.reason === null ? {} : { reason: by.reason }),
    detail: { receipt: id, caller: decided.actor },
  });
  return true;
}

/**
 * Calls whose time to be decided is over, oldest first; and those that have a receipt already: their caller was told that
 * they could not be parked, for the answer of the database was lost.
 */
export function listExpiredApprovals(db: Db, limit: number): Promise<StoredApproval[]> {
  return db
    .selectFrom('approval')
    .selectAll()
    .where('state', '=', 'waiting')
    .where((where) =>
      where.or([
        where('expires_at', '<=', sql<Date>`now()`),
        where.exists(where.selectFrom('receipt').select('receipt.id').whereRef('receipt.id', '=', 'approval.id')),
      ]),
    )
    .orderBy('expires_at')
    .limit(limit)
    .execute();
}
