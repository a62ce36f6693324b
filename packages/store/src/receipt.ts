import type { Receipt, ReceiptPayload, ReceiptRecord } from '@rowcall/protocol';
import { CompiledQuery, type Kysely, type Selectable, sql } from 'kysely';
import type pg from 'pg';
import type { Database, ReceiptTable } from './schema.js';

type Db = Kysely<Database>;

/** The columns of a batch of receipts, as parameters `$1` to `$7` of {@link INSERT_RECEIPTS}. */
export function toReceiptParameters(records: readonly ReceiptRecord[]): unknown[] {
  return [
    `[${records.map(({ receipt }) => toReceiptText(receipt)).join(',')}]`,
    records.map(({ receipt }) => receipt.id),
    records.map(({ payload }) => payload.request),
    records.map(({ payload }) => payload.request_redacted),
    records.map(({ payload }) => payload.result),
    records.map(({ payload }) => payload.result_redacted),
    records.map(({ payload }) => payload.upstream),
  ];
}

/** Columns whose values are ids, hashes, names of ours, times or numbers: they need no escaping. */
const PLAIN_COLUMNS = [
  'id',
  'trace',
  'parent',
  'step',
  'type',
  'row_version',
  'started_at',
  'finished_at',
  'outcome',
  'status',
  'material',
  'input_hash',
  'output_hash',
  'contract_fingerprint',
  'tokens_in',
  'tokens_out',
  'tokens_cached',
  'cost_usd',
  'replay_of',
  'repairs',
] as const satisfies readonly (keyof Receipt)[];
/** Columns that may hold any text. */
const FREE_COLUMNS = [
  'key',
  'lane',
  'actor',
  'error',
  'error_message',
  'on_behalf_of',
  'reason',
  'traceparent',
  'ask_id',
] as const satisfies readonly (keyof Receipt)[];

/** The receipt as JSON, without the columns that are null: half of them are, and every call writes one. */
function toReceiptText(receipt: Receipt): string {
  let text = '{';
  for (const column of PLAIN_COLUMNS) {
    const value = receipt[column];
    if (value !== null) text += `"${column}":${typeof value === 'string' ? `"${value}"` : value},`;
  }
  for (const column of FREE_COLUMNS) {
    const value = receipt[column];
    if (value !== null) text += `"${column}":${JSON.stringify(value)},`;
  }
  return `${text.slice(0, -1)}}`;
}

const PAYLOAD_COLUMNS = 'receipt_id, request, request_redacted, result, result_redacted, upstream';

// One statement for any number of receipts, so that it is prepared once. Payloads are arrays of text and not part of
// the JSON: there, Postgres would refuse a \u0000. A second try after a lost connection meets its own ids: do nothing.
const INSERT_RECEIPTS = `
with written as (
  insert into receipt select * from json_populate_recordset(null::receipt, $1::json) on conflict (id) do nothing
)
insert into receipt_payload (${PAYLOAD_COLUMNS})
select * from unnest($2::text[], $3::text[], $4::boolean[], $5::text[], $6::boolean[], $7::text[])
on conflict (receipt_id) do nothing`;

// As INSERT_RECEIPTS, for a batch in which some calls were opened ($8). Nothing was run of some of these ($9), and some
// of those may have been queued ($10). It gives the opened ones that had a receipt already: they were declared dead
// meanwhile, or this is the second try after a lost connection.
const CLOSE_CALLS = `
with closed as (delete from opened where id = any($8::text[]) returning id),
queued as (select unnest($10::text[]) as id except select id from closed),
released as (
  delete from idempotency
  where invocation_id = any($9::text[]) and answer is null and invocation_id not in (select id from queued)
),
written as (
  insert into receipt
  select r.* from json_populate_recordset(null::receipt, $1::json) as r where r.id not in (select id from queued)
  on conflict (id) do nothing returning id
),
kept as (
  insert into receipt_payload (${PAYLOAD_COLUMNS})
  select * from unnest($2::text[], $3::text[], $4::boolean[], $5::text[], $6::boolean[], $7::text[]) as p(receipt_id)
  where p.receipt_id not in (select id from queued)
  on conflict (receipt_id) do nothing
)
select unnest($8::text[]) as id except select id from written`;

const idsOf = (records: readonly ReceiptRecord[], ...closings: readonly ReceiptRecord['opened'][]): string[] =>
  records.filter(({ opened }) => closings.includes(opened)).map(({ receipt }) => receipt.id);

/**
 * Writes receipts and payloads in one durable statement, and closes the calls that were opened. Writing a receipt twice
 * is the same as once.
 * @returns the ids of opened calls whose process was declared dead before they ended: their receipts say `interrupted`.
 */
export async function insertReceipts(pool: pg.Pool, records: readonly ReceiptRecord[]): Promise<readonly string[]> {
  const values = toReceiptParameters(records);
  const opened = idsOf(records, 'fired', 'unfired', 'unqueued');
  if (opened.length === 0) {
    await pool.query({ name: 'insert_receipts', text: INSERT_RECEIPTS, values });
    return NONE;
  }
  values.push(opened, idsOf(records, 'unfired', 'unqueued'), idsOf(records, 'unqueued'));
  const close = { name: 'close_calls', text: CLOSE_CALLS, values };
  const { rows } = await pool.query<{ id: string }>(close);
  return rows.length === 0 ? NONE : findInterrupted(pool, rows);
}

async function findInterrupted(pool: pg.Pool, calls: readonly { id: string }[]): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `select id from receipt where id = any($1) and outcome = 'interrupted'`,
    [calls.map(({ id }) => id)],
  );
  return rows.map(({ id }) => id);
}

/** Writes receipts in the transaction of what they are part of. */
export async function insertReceiptsIn(tx: Db, records: readonly ReceiptRecord[]): Promise<void> {
  await tx.executeQuery(CompiledQuery.raw(INSERT_RECEIPTS, toReceiptParameters(records)));
}

const NONE: readonly string[] = [];

/** A receipt as it is answered: times as RFC 3339, money as a number. */
export function toReceipt(record: Selectable<ReceiptTable>): Receipt {
  return {
    ...record,
    started_at: record.started_at.toISOString(),
    finished_at: record.finished_at.toISOString(),
    cost_usd: Number(record.cost_usd),
  };
}

// Written once: anyone may confirm a receipt, and building the statement would cost as much as running it.
const FIND_RECEIPT = 'select * from receipt where id = $1';

/** @returns the receipt, or undefined when there is none. */
export async function findReceipt(db: Db, id: string): Promise<Receipt | undefined> {
  const query = CompiledQuery.raw(FIND_RECEIPT, [id]) as CompiledQuery<Selectable<ReceiptTable>>;
  const { rows } = await db.executeQuery(query);
  return rows[0] === undefined ? undefined : toReceipt(rows[0]);
}

/** @returns the payload of a receipt, or undefined when it expired. */
export function findReceiptPayload(db: Db, receiptId: string): Promise<ReceiptPayload | undefined> {
  return db
    .selectFrom('receipt_payload')
    .select(['receipt_id', 'request', 'request_redacted', 'result', 'result_redacted', 'upstream'])
    .where('receipt_id', '=', receiptId)
    .executeTakeFirst();
}

/** Receipts of one trace, oldest first. `limit` bounds a trace of any size. */
export async function listTrace(db: Db, trace: string, limit: number): Promise<Receipt[]> {
  const records = await db
    .selectFrom('receipt')
    .selectAll()
    .where('trace', '=', trace)
    .orderBy('id')
    .limit(limit)
    .execute();
  return records.map(toReceipt);
}

/** Of the given calls, those that ended: they have a receipt. */
export async function listEndedCalls(db: Db, ids: readonly string[]): Promise<string[]> {
  const records = await db
    .selectFrom('receipt')
    .select('id')
    .where('id', '=', sql<string>`any(${[...ids]}::text[])`)
    .execute();
  return records.map(({ id }) => id);
}
