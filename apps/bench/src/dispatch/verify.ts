import { createHash } from 'node:crypto';
import { INVOCATION_ID_PATTERN } from '@rowcall/protocol';
import type pg from 'pg';
import { COMPARISON_SCHEMA } from './comparison-table.js';

/** Rows that calls leave, of both ways. */
export interface Written {
  readonly receipts: number;
  readonly payloads: number;
  readonly inserts: number;
}

/** Counts what is in the database now. */
export async function countWritten(client: pg.Client): Promise<Written> {
  const { rows } = await client.query<Record<keyof Written, string>>(`
    select (select count(*) from receipt where key = 'ECHO' and outcome = 'succeeded') as receipts,
           (select count(*) from receipt_payload) as payloads,
           (select count(*) from ${COMPARISON_SCHEMA}.call) as inserts`);
  const [row] = rows;
  return { receipts: Number(row?.receipts), payloads: Number(row?.payloads), inserts: Number(row?.inserts) };
}

/** What the answers claim. */
export interface Claimed {
  /** Answers with status 200 from the API and from the insert per request. */
  readonly dispatches: number;
  readonly inserts: number;
}

/** @throws Error when the database did not gain exactly one row per answer. */
export function checkWritten(before: Written, after: Written, claimed: Claimed): void {
  const pairs: [string, number, number][] = [
    ['receipts', after.receipts - before.receipts, claimed.dispatches],
    ['receipt payloads', after.payloads - before.payloads, claimed.dispatches],
    ['inserted rows', after.inserts - before.inserts, claimed.inserts],
  ];
  for (const [what, found, expected] of pairs) {
    if (found !== expected) throw new Error(`${found} ${what} for ${expected} answers: the figures are worth nothing`);
  }
}

interface DispatchAnswer {
  readonly result: unknown;
  readonly proof: { readonly invocation_id: string; readonly fingerprints: { readonly output: string } };
}

/** Looks at some answers as a whole: the result, its hash, and that the receipt they name is in the database. */
export async function checkSamples(client: pg.Client, bodies: readonly string[]): Promise<void> {
  const proofs = bodies.map((body) => {
    const { result, proof } = JSON.parse(body) as DispatchAnswer;
    if (result !== 'hello') throw new Error(`ECHO answered ${JSON.stringify(result)}`);
    if (!INVOCATION_ID_PATTERN.test(proof.invocation_id)) throw new Error(`no invocation id: ${proof.invocation_id}`);
    const hash = createHash('sha256').update(JSON.stringify(result)).digest('hex');
    if (proof.fingerprints.output !== hash)
      throw new Error(`the output hash is ${proof.fingerprints.output}, not ${hash}`);
    return proof.invocation_id;
  });
  const ids = [...new Set(proofs)];
  if (ids.length !== bodies.length) throw new Error('two answers name the same receipt');
  const { rows } = await client.query<{ found: string }>(
    'select count(*) as found from receipt where id = any($1::text[]) and material',
    [ids],
  );
  if (Number(rows[0]?.found) !== ids.length) throw new Error(`of ${ids.length} receipts, ${rows[0]?.found} are there`);
}
