import type { ReceiptRecord } from '@rowcall/protocol';
import { CompiledQuery, type Kysely, sql } from 'kysely';
import type pg from 'pg';
import { deleteDeadProcesses } from './process.js';
import type { Database } from './schema.js';

/** A caller's Idempotency-Key, as hashes: lower-case hex SHA-256. */
export interface IdempotencyClaim {
  readonly actor: string;
  readonly keyHash: string;
  readonly requestHash: string;
}

/** A call that is about to fire. */
export interface Beginning {
  /** The id of the receipt that it will leave. */
  readonly id: string;
  /** Fingerprints of the grants whose limits it takes from. */
  readonly chain: readonly string[];
  /** US dollars that the call costs, taken from budgets. */
  readonly price: number;
  readonly claim: IdempotencyClaim | null;
  /** The receipt to be written, `interrupted`, should this process die before the call ends. */
  readonly opened: { readonly process: string; readonly record: ReceiptRecord } | null;
}

/** What came of a beginning. Only `begun` may fire; `repeated`: another call has the Idempotency-Key. */
export interface Verdict {
  readonly verdict:
    | 'begun'
    | 'repeated'
    | 'expired'
    | 'revoked'
    | 'rate_limited'
    | 'budget_exhausted'
    | 'token_exhausted';
  /** Seconds; null when waiting does not help. */
  readonly retryAfter: number | null;
}

const toOpened = ({ process, record: { receipt, payload } }: NonNullable<Beginning['opened']>) => ({
  process,
  receipt,
  request: payload.request,
  request_redacted: payload.request_redacted,
});

const toCall = ({ id, chain, price, claim, opened }: Beginning) => ({
  id,
  chain,
  price,
  idempotency: claim === null ? null : { actor: claim.actor, key_hash: claim.keyHash, request_hash: claim.requestHash },
  opened: opened === null ? null : toOpened(opened),
});

interface VerdictRow {
  readonly call_id: string;
  readonly verdict: Verdict['verdict'];
  readonly retry_after: number | null;
}

const BEGIN_CALLS = 'select call_id, verdict, retry_after from begin_calls($1::jsonb)';

const toParameter = (beginnings: readonly Beginning[]): string => JSON.stringify(beginnings.map(toCall));

const toVerdicts = (rows: readonly VerdictRow[]): ReadonlyMap<string, Verdict> =>
  new Map(rows.map(({ call_id, verdict, retry_after }) => [call_id, { verdict, retryAfter: retry_after }]));

/**
 * Begins calls: claims their Idempotency-Keys, takes what they use of their grants, and opens them, in one durable
 * statement. @returns the verdict of each, by id. @throws a foreign key violation when the process is not registered.
 */
export async function beginCalls(
  pool: pg.Pool,
  beginnings: readonly Beginning[],
): Promise<ReadonlyMap<string, Verdict>> {
  const values = [toParameter(beginnings)];
  const { rows } = await pool.query<VerdictRow>({ name: 'begin_calls', text: BEGIN_CALLS, values });
  return toVerdicts(rows);
}

/** Begins a call in the transaction of what it is part of. */
export async function beginCallIn(tx: Kysely<Database>, beginning: Beginning): Promise<Verdict> {
  const query = CompiledQuery.raw(BEGIN_CALLS, [toParameter([beginning])]);
  const { rows } = await tx.executeQuery<VerdictRow>(query as CompiledQuery<VerdictRow>);
  const verdict = toVerdicts(rows).get(beginning.id);
  if (verdict === undefined) throw new Error(`the call ${beginning.id} was given no verdict`);
  return verdict;
}

/** Tells whether an error says that the process which opens calls is not registered: it was declared dead. */
export const isUnregistered = (error: unknown): boolean =>
  (error as { code?: unknown; constraint?: unknown }).code === '23503' &&
  (error as { constraint?: unknown }).constraint === 'opened_process_fkey';

/** The calls that a process has open. */
export async function listOpenCalls(db: Kysely<Database>, process: string): Promise<string[]> {
  const rows = await db.selectFrom('opened').select('id').where('process', '=', process).execute();
  return rows.map(({ id }) => id);
}

/** Gives opened calls up that nobody will end: {@link interruptDeadCalls} does. */
export async function abandonCalls(db: Kysely<Database>, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await db
    .updateTable('opened')
    .set({ process: null })
    .where('id', '=', sql<string>`any(${[...ids]}::text[])`)
    .execute();
}

/** Opened calls that are ended in one statement. */
const INTERRUPT_MAX = 200;

/**
 * Writes the receipts, `interrupted`, of the calls that dead processes had opened, and of those that were given up.
 * Whether they fired is not known, and they are not fired again. @param judge id of the calling process, which may judge
 * that another is dead. @returns the ids of the calls.
 */
export async function interruptDeadCalls(db: Kysely<Database>, judge: string): Promise<string[]> {
  await deleteDeadProcesses(db, judge);
  const interrupted: string[] = [];
  for (;;) {
    const ended = await interruptOrphans(db);
    for (const { id, isInterrupted } of ended) if (isInterrupted) interrupted.push(id);
    if (ended.length < INTERRUPT_MAX) return interrupted;
  }
}

/**
 * One that has a receipt already was opened after it had been refused, by a statement whose answer was lost: nothing was
 * run, and its Idempotency-Key is free again.
 */
async function interruptOrphans(db: Kysely<Database>): Promise<{ id: string; isInterrupted: boolean }[]> {
  const { rows } = await sql<{ id: string; isInterrupted: boolean }>`
    with orphan as (
      select id from opened where process is null order by id limit ${INTERRUPT_MAX} for update skip locked
    ),
    dead as (
      delete from opened using orphan where opened.id = orphan.id
      returning opened.id, receipt, request, request_redacted
    ),
    written as (
      insert into receipt
      select ended.* from dead,
        json_populate_record(null::receipt, (receipt::jsonb || jsonb_build_object('finished_at',
          greatest(now(), (receipt ->> 'started_at')::timestamptz)))::json) as ended
      on conflict (id) do nothing returning id
    ),
    released as (
      delete from idempotency where answer is null
        and invocation_id in (select id from dead except select id from written)
    ),
    kept as (
      insert into receipt_payload (receipt_id, request, request_redacted, result_redacted)
      select id, request, request_redacted, false from dead on conflict (receipt_id) do nothing
    )
    select id, id in (select id from written) as "isInterrupted" from dead`.execute(db);
  return rows;
}
