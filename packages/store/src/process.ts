import { type Kysely, sql } from 'kysely';
import type { Database } from './schema.js';

type Db = Kysely<Database>;

/** Channel that is notified when a process comes or goes. */
export const PROCESS_CHANNEL = 'rowcall_process';
/** How often, in ms, a process writes its heartbeat. */
export const HEARTBEAT_EVERY_MS = 3_000;
/** A process whose heartbeat is older, in ms, counts as dead, and what it held as free. */
export const HEARTBEAT_MAX_AGE_MS = 15_000;

/** Heartbeats further apart than this, in ms, have a gap between them. */
const HEARTBEAT_GAP_MS = 2 * HEARTBEAT_EVERY_MS;

const ms = (count: number) => sql`${count} * interval '1 millisecond'`;

/** A process as it registers: a runner with its lanes, an API process with none. */
export interface NewProcess {
  readonly id: string;
  readonly lanes: readonly string[];
  readonly concurrency: number;
  readonly host: string;
  readonly pid: number;
}

const announce = (db: Db) => sql`select pg_notify(${PROCESS_CHANNEL}, '')`.execute(db);

/** Registers a process, where it is not, and tells all others. */
export async function insertProcess(db: Db, process: NewProcess): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await tx
      .insertInto('process')
      .values({ ...process, lanes: [...process.lanes] })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute();
    await announce(tx);
  });
}

/** Takes a runner's lanes away, so that nothing new is sent to it, while it still holds its leases. */
export async function drainProcess(db: Db, id: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await tx.updateTable('process').set({ lanes: [] }).where('id', '=', id).execute();
    await announce(tx);
  });
}

/** Takes a process out and tells all others. */
export async function deleteProcess(db: Db, id: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await tx.deleteFrom('process').where('id', '=', id).execute();
    await announce(tx);
  });
}

/** Keeps a process and all that it holds alive. @returns false when it was declared dead meanwhile. */
export async function updateHeartbeat(db: Db, id: string): Promise<boolean> {
  const result = await db
    .updateTable('process')
    .set({
      heartbeat_at: sql<Date>`now()`,
      beating_since: sql<Date>`case when heartbeat_at < now() - ${ms(HEARTBEAT_GAP_MS)} then now() else beating_since end`,
    })
    .where('id', '=', id)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/**
 * Deletes the processes whose heartbeats are too old, if the process `judge` may judge: after an outage of the database
 * every heartbeat is old, and those who live must get the time to beat again.
 */
export async function deleteDeadProcesses(db: Db, judge: string): Promise<void> {
  const longAgo = sql`now() - ${ms(HEARTBEAT_MAX_AGE_MS)}`;
  await sql`
    delete from process where heartbeat_at < ${longAgo} and id <> ${judge} and exists (
      select from process as judge
      where judge.id = ${judge} and judge.beating_since < ${longAgo}
        and judge.heartbeat_at > now() - ${ms(HEARTBEAT_GAP_MS)}
    )`.execute(db);
}

/** The lanes that some living runner serves. */
export async function listLiveLanes(db: Db): Promise<string[]> {
  const { rows } = await sql<{ lane: string }>`
    select distinct unnest(lanes) as lane from process
    where heartbeat_at > now() - ${ms(HEARTBEAT_MAX_AGE_MS)}`.execute(db);
  return rows.map(({ lane }) => lane);
}

/** Tells whether a runner of the given host has a young heartbeat. */
export async function hasLiveRunner(db: Db, host: string): Promise<boolean> {
  const { rows } = await sql`
    select from process
    where host = ${host} and lanes <> '{}' and heartbeat_at > now() - ${ms(HEARTBEAT_MAX_AGE_MS)} limit 1`.execute(db);
  return rows.length > 0;
}
