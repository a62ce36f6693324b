import type { Effect, ReceiptRecord } from '@rowcall/protocol';
import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import type pg from 'pg';
import { deleteDeadProcesses } from './process.js';
import { toReceiptParameters } from './receipt.js';
import type { Database } from './schema.js';

/** Channel that is notified when jobs wait; the payload names the lanes, separated by spaces. */
export const JOB_CHANNEL = 'rowcall_job';
/** Channel that is notified when jobs ended; the payload holds their ids, separated by spaces. */
export const DONE_CHANNEL = 'rowcall_done';
/** How often a read job is started, counting the first. A write job is started once. */
export const READ_ATTEMPTS_MAX = 3;

/** A call that waits for a runner. Its id is the id of the receipt that it will leave. */
export interface NewJob {
  readonly id: string;
  readonly lane: string;
  readonly effect: Effect;
  /** The call, as JSON text. */
  readonly call: string;
  /** True for a call that was opened. It is queued only as long as it is open: else it was ended meanwhile. */
  readonly opened?: boolean;
}

/** A call that a runner holds. */
export interface ClaimedJob extends Omit<NewJob, 'opened'> {
  /** Counting this one. */
  readonly attempts: number;
}

// A call that was opened before it is queued is from here on held by its job.
const INSERT_JOBS = `
with handed as (delete from opened where id = any($1::text[]) returning id),
written as (
  insert into job (id, lane, effect, call)
  select id, lane, effect, call
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $6::boolean[]) as j(id, lane, effect, call, opened)
  where not opened or id in (select id from handed)
  on conflict (id) do nothing
)
select pg_notify('${JOB_CHANNEL}', $5)`;

/** Queues jobs and wakes the runners: one statement and one notification for all. */
export async function insertJobs(pool: pg.Pool, jobs: readonly NewJob[]): Promise<void> {
  const values = [
    jobs.map(({ id }) => id),
    jobs.map(({ lane }) => lane),
    jobs.map(({ effect }) => effect),
    jobs.map(({ call }) => call),
    [...new Set(jobs.map(({ lane }) => lane))].join(' '),
    jobs.map(({ opened = false }) => opened),
  ];
  await pool.query({ name: 'insert_jobs', text: INSERT_JOBS, values });
}

const CLAIM_JOBS = `
with picked as (
  select id from job where lane = any($2) and lease_owner is null
  order by priority desc, id limit $3 for update skip locked
),
claimed as (
  update job set lease_owner = $1, leased_at = now(), attempts = attempts + 1
  from picked where job.id = picked.id
  returning job.id, lane, effect, call, attempts, priority
)
select id, lane, effect, call, attempts from claimed order by priority desc, id`;

/** Takes up to `limit` waiting jobs of the lanes, the most urgent first. No job is ever given to two runners. */
export async function claimJobs(
  pool: pg.Pool,
  options: { runnerId: string; lanes: readonly string[]; limit: number },
): Promise<ClaimedJob[]> {
  const values = [options.runnerId, options.lanes, options.limit];
  const { rows } = await pool.query<ClaimedJob>({ name: 'claim_jobs', text: CLAIM_JOBS, values });
  return rows;
}

// Only the holder of the lease may end a job: one that was declared dead and wakes up writes nothing.
const COMPLETE_JOBS = `
with ended as (delete from job where id = any($2::text[]) and lease_owner = $8 returning id),
written as (
  insert into receipt select * from json_populate_recordset(null::receipt, $1::json) as r
  where r.id in (select id from ended) on conflict (id) do nothing
),
kept as (
  insert into receipt_payload (receipt_id, request, request_redacted, result, result_redacted, upstream)
  select * from unnest($2::text[], $3::text[], $4::boolean[], $5::text[], $6::boolean[], $7::text[]) as p(receipt_id)
  where p.receipt_id in (select id from ended) on conflict (receipt_id) do nothing
)
select pg_notify('${DONE_CHANNEL}', string_agg(id, ' ')) from ended having count(*) > 0`;

/** Ids of {@link DONE_CHANNEL} in one notification: its payload holds less than 8,000 bytes. */
export const COMPLETE_BATCH_MAX = 200;

/** Ends jobs and writes their receipts, in one statement. A job whose lease was lost is left out. */
export async function completeJobs(pool: pg.Pool, runnerId: string, records: readonly ReceiptRecord[]): Promise<[]> {
  const values = [...toReceiptParameters(records), runnerId];
  await pool.query({ name: 'complete_jobs', text: COMPLETE_JOBS, values });
  return [];
}

/** Puts jobs back that were taken and not started; the attempt does not count. */
export async function releaseJobs(db: Kysely<Database>, runnerId: string, ids: readonly string[]): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const released = await tx
      .updateTable('job')
      .set({ lease_owner: null, leased_at: null, attempts: sql<number>`attempts - 1` })
      .where('lease_owner', '=', runnerId)
      .where('id', '=', sql<string>`any(${[...ids]}::text[])`)
      .returning('lane')
      .execute();
    await wake(tx, released);
  });
}

const wake = async (tx: Kysely<Database>, jobs: readonly Pick<NewJob, 'lane'>[]): Promise<void> => {
  const lanes = [...new Set(jobs.map(({ lane }) => lane))].join(' ');
  if (lanes !== '') await sql`select pg_notify(${JOB_CHANNEL}, ${lanes})`.execute(tx);
};

/**
 * Takes the leases of dead runners over. Reads that may start again go back to the queue. Other runners are declared
 * dead by the age of their heartbeats, but only by a caller whose own has come without a gap for that long.
 * @returns the others, now leased to the caller, who has to write an `interrupted` receipt for each.
 */
export async function takeOverDeadLeases(db: Kysely<Database>, runnerId: string): Promise<ClaimedJob[]> {
  return db.transaction().execute(async (tx) => {
    await deleteDeadProcesses(tx, runnerId);
    const { rows } = await sql<ClaimedJob & { requeued: boolean }>`
      with dead as (
        select id from job
        -- An array and not a join: of a row that another caller has just taken, Postgres looks at a join no second time.
        where lease_owner <> all (array(select id from process))
        order by id limit 200 for update skip locked
      )
      update job set
        lease_owner = case when effect = 'read' and attempts < ${READ_ATTEMPTS_MAX} then null else ${runnerId} end
      from dead where job.id = dead.id
      returning job.id, lane, effect, call, attempts, lease_owner is null as requeued`.execute(tx);
    await wake(
      tx,
      rows.filter(({ requeued }) => requeued),
    );
    return rows.filter(({ requeued }) => !requeued);
  });
}

/** Where a call stands that has no receipt yet: it waits for a runner or a person, or runs. */
export type CallState = 'queued' | 'running' | 'awaiting_approval';

/** Where a call stands, or undefined when nothing is known of it but, perhaps, its receipt. */
export async function findCallState(db: Kysely<Database>, id: string): Promise<CallState | undefined> {
  const { rows } = await sql<{ state: CallState }>`
    select case when lease_owner is null then 'queued' else 'running' end as state from job where id = ${id}
    union all
    select 'running' from opened where id = ${id}
    union all
    select 'awaiting_approval' from approval where id = ${id} and state = 'waiting'`.execute(db);
  return rows[0]?.state;
}
