import { createHash, randomBytes } from 'node:crypto';
import type { GrantTerms } from '@rowcall/protocol';
import { makeReceipt } from '@rowcall/testing';
import type pg from 'pg';
import type { Beginning, IdempotencyClaim } from '../opened.js';

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** A claim of an Idempotency-Key of the owner. */
export const makeClaim = (key: string, request = 'request', actor = 'owner'): IdempotencyClaim => ({
  actor,
  keyHash: sha256(key),
  requestHash: sha256(request),
});

/** The receipt that an opened call leaves when its process dies. */
export const makeInterrupted = (request = '{"body":"hello"}') =>
  makeReceipt(
    {
      outcome: 'interrupted',
      status: 'PROVEN_ATTEMPT_NO_MATERIAL_RESULT',
      material: false,
      output_hash: null,
      error: 'interrupted',
    },
    { request, result: null },
  );

/** A call that is opened by `process`; give what matters to the test. */
export function makeBeginning(process: string, beginning: Partial<Beginning> = {}): Beginning {
  const record = makeInterrupted();
  return {
    id: record.receipt.id,
    chain: [],
    price: 0,
    claim: null,
    opened: { process, record },
    ...beginning,
  };
}

const TERMS: GrantTerms = {
  scope: 'act',
  effects: ['read', 'write'],
  max_uses: 0,
  audience: null,
  risk_ceiling: 'high',
  owner_gate: false,
  fixed_body: null,
  max_body_bytes: null,
  rate_per_minute: null,
  budget_usd: null,
  pins: null,
};

/** Mints a grant. @returns its fingerprint. */
export async function mintGrant(
  client: pg.Client,
  terms: Partial<GrantTerms> = {},
  { parent = null, expires = '1 hour' }: { parent?: string | null; expires?: string } = {},
): Promise<string> {
  const fingerprint = `cap_${randomBytes(16).toString('hex')}`;
  await client.query(
    `insert into capability_grant (fingerprint, token_hash, parent, depth, terms, purpose, created_by, created_at, expires_at)
     values ($1, $2, $3::text, case when $3::text is null then 0 else 1 end, $4, 'test', 'owner',
             now() - interval '1 day', now() + $5::interval)`,
    [fingerprint, sha256(fingerprint), parent, { ...TERMS, ...terms }, expires],
  );
  return fingerprint;
}
