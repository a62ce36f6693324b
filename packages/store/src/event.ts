import type { JsonValue } from '@rowcall/protocol';
import { type Kysely, sql } from 'kysely';
import type { Database } from './schema.js';

type Db = Kysely<Database>;

/** Channel that is notified when events are committed; the payload is empty. */
export const EVENT_CHANNEL = 'rowcall_event';

/** Something that happened to the deployment. Changes of rows and denials on the ledger write theirs by trigger. */
export interface NewEvent {
  /** Upper-case name, such as `UNAUTHORIZED`. */
  readonly kind: string;
  readonly actor: string;
  readonly key?: string;
  readonly reason?: string;
  readonly detail?: Readonly<Record<string, JsonValue>>;
}

/** An event as it is kept. */
export interface StoredEvent {
  /** Goes up with the order in which events were written, not in which they were committed. */
  readonly id: number;
  /** Start of the transaction that wrote it, ISO 8601. */
  readonly at: string;
  readonly kind: string;
  readonly actor: string;
  readonly key: string | null;
  readonly reason: string | null;
  readonly detail: Readonly<Record<string, JsonValue>>;
}

/** Which events are meant; all of them when nothing is given. */
export interface EventFilter {
  readonly kind?: string | undefined;
  readonly key?: string | undefined;
  readonly actor?: string | undefined;
}

/** A page of {@link listEvents}. */
export interface EventPage extends EventFilter {
  /** Only ids above this one. */
  readonly after?: number | undefined;
  /** Only ids below this one. */
  readonly before?: number | undefined;
  readonly limit: number;
  /** By id. */
  readonly order: 'asc' | 'desc';
}

/** Rows of one statement: Postgres takes 65,535 parameters. */
const INSERT_MAX = 1_000;

/** Writes events, in their order: all of them, or none. */
export async function insertEvents(db: Db, events: readonly NewEvent[]): Promise<void> {
  if (events.length <= INSERT_MAX) return insertBatch(db, events);
  await db.transaction().execute(async (tx) => {
    for (let start = 0; start < events.length; start += INSERT_MAX) {
      await insertBatch(tx, events.slice(start, start + INSERT_MAX));
    }
  });
}

/** Writes one event. */
export const insertEvent = (db: Db, event: NewEvent): Promise<void> => insertEvents(db, [event]);

async function insertBatch(db: Db, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  const values = events.map(({ kind, actor, key = null, reason = null, detail = {} }) => ({
    kind,
    actor,
    key,
    reason,
    detail: JSON.stringify(detail),
  }));
  await db.insertInto('event').values(values).execute();
}

/**
 * Reads committed events by id. An id that is missing between others may still come: its transaction may be open.
 * {@link EventTail} tells when none can come any more.
 */
export async function listEvents(
  db: Db,
  { after, before, limit, order, ...filter }: EventPage,
): Promise<StoredEvent[]> {
  let query = db.selectFrom('event').selectAll().orderBy('id', order).limit(limit);
  if (after !== undefined) query = query.where('id', '>', String(after));
  if (before !== undefined) query = query.where('id', '<', String(before));
  for (const column of ['kind', 'key', 'actor'] as const) {
    const value = filter[column];
    if (value !== undefined) query = query.where(column, '=', value);
  }
  const rows = await query.execute();
  return rows.map(({ id, at, ...event }) => ({ id: Number(id), at: at.toISOString(), ...event }));
}

/** The newest committed id. */
export async function findNewestEventId(db: Db): Promise<number | undefined> {
  const newest = await db.selectFrom('event').select('id').orderBy('id', 'desc').limit(1).executeTakeFirst();
  return newest === undefined ? undefined : Number(newest.id);
}

/** The committed ids above `after` and up to `upTo`, ascending. */
export async function listEventIds(db: Db, { after, upTo }: { after: number; upTo: number }): Promise<number[]> {
  const rows = await db
    .selectFrom('event')
    .select('id')
    .where('id', '>', String(after))
    .where('id', '<=', String(upTo))
    .orderBy('id')
    .execute();
  return rows.map(({ id }) => Number(id));
}

/**
 * The transactions that may hold ids of events and are not over. Who writes an event locks the table before it draws
 * the id, and lets go only when its end can be seen by others.
 */
export async function listEventWriters(db: Db): Promise<string[]> {
  const { rows } = await sql<{ writer: string }>`
    select virtualtransaction as writer from pg_locks
    where locktype = 'relation' and relation = 'event'::regclass and mode = 'RowExclusiveLock' and granted
      and database = (select oid from pg_database where datname = current_database())`.execute(db);
  return rows.map(({ writer }) => writer);
}
