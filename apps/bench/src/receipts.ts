import { createHash } from 'node:crypto';
import { INVOCATION_ID_PATTERN, type JsonValue } from '@rowcall/protocol';
import type pg from 'pg';

/** Rows that calls with a receipt leave. */
export interface Receipts {
  readonly receipts: number;
  readonly payloads: number;
}

/** Counts the receipts that say that `key` succeeded, and the payloads of all. */
export async function countReceipts(client: pg.Client, key: string): Promise<Receipts> {
  const { rows } = await client.query<Record<keyof Receipts, string>>(
    `select (select count(*) from receipt where key = $1 and outcome = 'succeeded') as receipts,
            (select count(*) from receipt_payload) as payloads`,
    [key],
  );
  return { receipts: Number(rows[0]?.receipts), payloads: Number(rows[0]?.payloads) };
}

/** @throws Error when there are not as many of something as answers claim. */
export function requireEqual(what: string, found: number, expected: number): void {
  if (found !== expected) throw new Error(`${found} ${what} for ${expected} answers: the figures are worth nothing`);
}

/** @throws Error when the database did not gain exactly one receipt, with its payload, per answer. */
export function checkReceipts(before: Receipts, after: Receipts, answers: number): void {
  requireEqual('receipts', after.receipts - before.receipts, answers);
  requireEqual('receipt payloads', after.payloads - before.payloads, answers);
}

interface DispatchAnswer {
  readonly result: unknown;
  readonly proof: { readonly invocation_id: string; readonly fingerprints: { readonly output: string } };
}

/**
 * Looks at some answers as a whole: the result, its hash, and that the receipt they name is in the database.
 * @param expected what every one of them has as its result.
 * @throws Error that says what is wrong with the first one.
 */
export async function checkSamples(client: pg.Client, bodies: readonly string[], expected: JsonValue): Promise<void> {
  const proofs = bodies.map((body) => {
    const { result, proof } = JSON.parse(body) as DispatchAnswer;
    if (JSON.stringify(result) !== JSON.stringify(expected))
      throw new Error(`a call answered ${JSON.stringify(result)}`);
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
