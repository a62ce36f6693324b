import type { Receipt } from '@rowcall/protocol';
import { type Kysely, sql } from 'kysely';
import { ALL_IDS, walkValue } from './receipt-walk.js';
import type { Database } from './schema.js';

/** A later call that names an earlier one. */
export type LaterCall = Pick<Receipt, 'id' | 'key' | 'actor' | 'outcome' | 'material' | 'started_at'>;

/** The calls that replay or repair a receipt, newest first, `limit` at the most. */
export async function listLaterCalls(
  db: Kysely<Database>,
  { relation, id, limit }: { relation: 'replay_of' | 'repairs'; id: string; limit: number },
): Promise<LaterCall[]> {
  const { where, newestFirst } = walkValue(relation, id, ALL_IDS, sql`${sql.ref(relation)} is not null`);
  const { rows } = await sql<Omit<LaterCall, 'started_at'> & { started_at: Date }>`
    select id, key, actor, outcome, material, started_at from receipt
    where ${where} order by ${newestFirst} limit ${limit}`.execute(db);
  return rows.map((row) => ({ ...row, started_at: row.started_at.toISOString() }));
}
