import { type Kysely, sql, type Transaction } from 'kysely';
import type { Database } from './schema.js';

type Db = Kysely<Database>;

/** Channel that tells of stored vectors; the payload is their keys, with a blank between them. */
export const EMBEDDING_CHANNEL = 'rowcall_embedding';

/** A fixed number that names the lock of whoever computes vectors. */
const TURN_LOCK = 7_304_118_502;
/** Keys of one notification: with 64 characters each they stay under the 8,000 bytes that Postgres allows. */
const KEYS_PER_NOTIFICATION = 100;

/** Which text of which row a vector is of. */
export interface EmbeddedText {
  readonly key: string;
  /** SHA-256 of the text, lower-case hex. */
  readonly textSha256: string;
}

/** A vector of unit length, as it is kept: signed bytes, and what one step of them is worth. */
export interface NewRowEmbedding extends EmbeddedText {
  /** Version of the row that the text was read from. */
  readonly version: number;
  readonly scale: number;
  readonly vector: Int8Array;
}

/** A vector as search needs it. */
export interface StoredRowEmbedding extends EmbeddedText {
  readonly vector: Int8Array;
}

/**
 * Gives the turn to compute vectors to one caller at a time, over all processes: none pays for what another computes.
 * The turn is the transaction, so it ends with the connection too.
 * @returns what `work` returns; undefined when another has the turn.
 */
export function takeEmbeddingTurn<T>(db: Db, work: (tx: Transaction<Database>) => Promise<T>): Promise<T | undefined> {
  return db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ mine: boolean }>`select pg_try_advisory_xact_lock(${TURN_LOCK}) as mine`.execute(tx);
    return rows[0]?.mine === true ? work(tx) : undefined;
  });
}

/** Of the given texts, the keys of those that have a vector of the model. */
export async function listEmbeddedKeys(db: Db, model: string, texts: readonly EmbeddedText[]): Promise<string[]> {
  const keys = texts.map(({ key }) => key);
  const hashes = texts.map(({ textSha256 }) => textSha256);
  const { rows } = await sql<{ key: string }>`
    select key from row_embedding join unnest(${keys}::text[], ${hashes}::text[]) as asked (key, text_sha256)
    using (key, text_sha256) where model = ${model}`.execute(db);
  return rows.map(({ key }) => key);
}

/** Dimensions of the model's stored vectors; undefined when there is none. */
export async function findEmbeddingDimensions(db: Db, model: string): Promise<number | undefined> {
  const record = await db
    .selectFrom('row_embedding')
    .select('dimensions')
    .where('model', '=', model)
    .limit(1)
    .executeTakeFirst();
  return record?.dimensions;
}

/**
 * Stores vectors in the place of older ones, and notifies of them at the commit. What belongs to a row that was changed
 * or deleted since its text was read is left out.
 * @returns the keys that were stored.
 */
export async function saveRowEmbeddings(
  db: Db,
  model: string,
  embeddings: readonly NewRowEmbedding[],
): Promise<string[]> {
  const column = <T>(of: (embedding: NewRowEmbedding) => T): T[] => embeddings.map(of);
  const { rows } = await sql<{ keys: string[] }>`
    with stored as (
      insert into row_embedding as held (key, model, text_sha256, dimensions, scale, vector)
      select key, ${model}, text_sha256, octet_length(vector), scale, vector
      from unnest(${column(({ key }) => key)}::text[], ${column(({ version }) => version)}::integer[],
                  ${column(({ textSha256 }) => textSha256)}::text[], ${column(({ scale }) => scale)}::real[],
                  ${column(({ vector }) => toBytes(vector))}::bytea[])
        as computed (key, version, text_sha256, scale, vector)
      join directory using (key, version)
      on conflict (key) do update set
        model = excluded.model, text_sha256 = excluded.text_sha256, dimensions = excluded.dimensions,
        scale = excluded.scale, vector = excluded.vector, updated_at = now()
      returning key
    ), part as (
      select array_agg(key) as keys
      from (select key, (row_number() over () - 1) / ${KEYS_PER_NOTIFICATION}::integer as number from stored) as numbered
      group by number
    )
    select keys, pg_notify(${EMBEDDING_CHANNEL}, array_to_string(keys, ' ')) from part`.execute(db);
  return rows.flatMap(({ keys }) => keys);
}

const toBytes = (vector: Int8Array): Buffer => Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);

/** The model's vectors in the order of their keys, at most `limit`, from the one behind `after` on. */
export async function listRowEmbeddings(
  db: Db,
  model: string,
  page: { readonly after: string; readonly limit: number },
): Promise<StoredRowEmbedding[]> {
  const records = await selectVectors(db, model)
    .where('key', '>', page.after)
    .orderBy('key')
    .limit(page.limit)
    .execute();
  return records.map(toStored);
}

/** The model's vectors of the given keys; a key that has none is left out. */
export async function listRowEmbeddingsOf(
  db: Db,
  model: string,
  keys: readonly string[],
): Promise<StoredRowEmbedding[]> {
  const records = await selectVectors(db, model)
    .where('key', '=', sql<string>`any(${[...keys]}::text[])`)
    .execute();
  return records.map(toStored);
}

const selectVectors = (db: Db, model: string) =>
  db.selectFrom('row_embedding').select(['key', 'text_sha256', 'vector']).where('model', '=', model);

const toStored = ({ key, text_sha256, vector }: { key: string; text_sha256: string; vector: Buffer }) => ({
  key,
  textSha256: text_sha256,
  vector: new Int8Array(vector.buffer, vector.byteOffset, vector.byteLength),
});

/** Deletes vectors of keys that have had no row for a day: a row that is made anew soon needs no new one. */
export async function deleteOrphanEmbeddings(db: Db): Promise<void> {
  await sql`
    delete from row_embedding
    where updated_at < now() - interval '1 day' and not exists (select from directory where key = row_embedding.key)
      and not exists (
        select from directory_version as last
        where last.key = row_embedding.key and last.deleted and last.at > now() - interval '1 day')`.execute(db);
}
