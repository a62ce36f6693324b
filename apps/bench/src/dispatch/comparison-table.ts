import { createHash, randomUUID } from 'node:crypto';
import type pg from 'pg';

/** Schema of the run's own table, removed at its end. */
export const COMPARISON_SCHEMA = 'rowcall_bench';

const COLUMNS = [
  'id',
  'trace',
  'key',
  'type',
  'row_version',
  'lane',
  'actor',
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
  'request',
  'request_redacted',
  'result',
  'result_redacted',
];

/**
 * Makes a table with every column, check and index of a receipt, and the columns of its payload: what is compared is how
 * rows are committed, not what they are.
 */
export async function createComparisonTable(client: pg.Client): Promise<void> {
  await client.query(`drop schema if exists ${COMPARISON_SCHEMA} cascade`);
  await client.query(`create schema ${COMPARISON_SCHEMA}`);
  await client.query(`
    create table ${COMPARISON_SCHEMA}.call (
      like receipt including all,
      request text not null,
      request_redacted boolean not null,
      result text,
      result_redacted boolean not null,
      upstream text,
      created_at timestamptz not null default now()
    )`);
}

const INSERT = `
insert into ${COMPARISON_SCHEMA}.call (${COLUMNS.join(', ')})
values (${COLUMNS.map((_, index) => `$${index + 1}`).join(', ')})
returning id`;

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const newId = (): string => randomUUID().replaceAll('-', '');

/** Writes one call as a row of the size of a receipt, in its own commit. @returns its id. */
export async function insertCall(pool: pg.Pool, call: { key: string; body: string }): Promise<string> {
  const at = new Date().toISOString();
  const result = JSON.stringify(call.body);
  const values = [
    `inv_${newId()}`,
    `t_${newId()}`,
    call.key,
    'fn',
    1,
    'inline',
    'owner',
    at,
    at,
    'succeeded',
    'PROVEN_MATERIAL_RESULT',
    true,
    sha256(call.body),
    sha256(result),
    sha256(call.key),
    0,
    0,
    0,
    0,
    JSON.stringify({ body: call.body }),
    false,
    result,
    false,
  ];
  const { rows } = await pool.query<{ id: string }>({ name: 'insert_call', text: INSERT, values });
  const [row] = rows;
  if (row === undefined) throw new Error('the insert returned no row');
  return row.id;
}
