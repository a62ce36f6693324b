import type pg from 'pg';
import { checkReceipts, countReceipts, type Receipts, requireEqual } from '../receipts.js';
import { COMPARISON_SCHEMA } from './comparison-table.js';

/** Rows that calls leave, of both ways. */
export interface Written extends Receipts {
  readonly inserts: number;
}

/** Counts what is in the database now. */
export async function countWritten(client: pg.Client): Promise<Written> {
  const receipts = await countReceipts(client, 'ECHO');
  const { rows } = await client.query<{ found: string }>(`select count(*) as found from ${COMPARISON_SCHEMA}.call`);
  return { ...receipts, inserts: Number(rows[0]?.found) };
}

/** What the answers claim. */
export interface Claimed {
  /** Answers with status 200 from the API and from the insert per request. */
  readonly dispatches: number;
  readonly inserts: number;
}

/** @throws Error when the database did not gain exactly one row per answer. */
export function checkWritten(before: Written, after: Written, claimed: Claimed): void {
  checkReceipts(before, after, claimed.dispatches);
  requireEqual('inserted rows', after.inserts - before.inserts, claimed.inserts);
}
