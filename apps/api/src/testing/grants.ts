import { buildClient, type Client } from './client.js';
import type { TestApi } from './test-api.js';

/** A grant under test, and requests that present its token. */
export interface TestGrant {
  readonly token: string;
  /** `cap_…` */
  readonly fingerprint: string;
  /** `cap:…`, as receipts name its holder. */
  readonly actor: string;
  readonly holder: Client;
  readonly answer: Readonly<Record<string, unknown>>;
}

interface Minted {
  readonly token: string;
  readonly fingerprint: string;
}

/** Mints a grant of the owner's: for an hour and any number of calls, where `terms` say nothing else. */
export async function mintGrant(api: TestApi, terms: object): Promise<TestGrant> {
  const answer = await api.owner.post('/api/grants', { ttl_seconds: 3_600, max_uses: 0, purpose: 'a test', ...terms });
  if (answer.status !== 201) throw new Error(`the mint answered ${answer.status}: ${answer.text}`);
  return toGrant(api, answer.json<Minted & Record<string, unknown>>());
}

/** Derives a grant from another one. */
export async function deriveGrant(api: TestApi, parent: TestGrant, terms: object = {}): Promise<TestGrant> {
  const answer = await parent.holder.post('/api/grants/attenuate', terms);
  if (answer.status !== 201) throw new Error(`the derivation answered ${answer.status}: ${answer.text}`);
  return toGrant(api, answer.json<Minted & Record<string, unknown>>());
}

const toGrant = (api: TestApi, answer: Minted & Record<string, unknown>): TestGrant => ({
  token: answer.token,
  fingerprint: answer.fingerprint,
  actor: answer.fingerprint.replace('_', ':'),
  holder: buildClient(api.app, { authorization: `Bearer ${answer.token}` }),
  answer,
});

/** Ends a grant. */
export async function revokeGrant(api: TestApi, { fingerprint }: Pick<TestGrant, 'fingerprint'>): Promise<void> {
  const answer = await api.owner.post(`/api/grants/${fingerprint}/revoke`, {});
  if (answer.status !== 200) throw new Error(`the revocation answered ${answer.status}: ${answer.text}`);
}

/** Lets a grant expire: its time is moved, past the trigger that keeps grants from changing. */
export async function expireGrant(api: TestApi, { fingerprint }: Pick<TestGrant, 'fingerprint'>): Promise<void> {
  const client = await api.context.store.pool.connect();
  try {
    await client.query('begin');
    await client.query('alter table capability_grant disable trigger capability_grant_guard');
    await client.query(
      `update capability_grant set created_at = now() - interval '2 hours', expires_at = now() - interval '1 hour'
       where fingerprint = $1`,
      [fingerprint],
    );
    await client.query('alter table capability_grant enable always trigger capability_grant_guard');
    await client.query('commit');
  } finally {
    client.release();
  }
  api.context.grantBook.forget(fingerprint);
}
