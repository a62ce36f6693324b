import { toActor } from '@rowcall/grants';
import { revokeGrant } from '@rowcall/store';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import type { Caller } from '../call.js';
import { CALLER, startTestEngine, type TestEngine } from '../testing/engine.js';

let engine: TestEngine;
beforeAll(async () => {
  engine = await startTestEngine();
  await engine.insert({ key: 'ECHO', content: '# WHAT: Gives back.\n["$1+"]' });
});
afterAll(() => engine.stop());
afterEach(() => void vi.restoreAllMocks());

async function mint() {
  const body = { scope: { keys: ['ECHO'] }, ttl_seconds: 60, max_uses: 0, purpose: 'a test' };
  return engine.parts.grants.mint(body, CALLER, null);
}

async function findCaller(token: string): Promise<Caller> {
  const chain = (await engine.parts.grantBook.findByToken(token)) ?? [];
  return { actor: toActor(chain.at(-1)?.fingerprint ?? ''), traceparent: null, chain };
}

const call = (caller: Caller) =>
  engine.parts.engine.dispatch({ key: 'ECHO', input: { body: 'a' }, mode: 'sync' }, caller);

const revoke = (fingerprint: string) => revokeGrant(engine.observer.db, fingerprint, { actor: 'owner', reason: null });

test('a grant is read once, and again after it was revoked elsewhere', async () => {
  const { token, grant } = await mint();
  await findCaller(token);
  expect(engine.parts.grantBook.findByToken(token)).toMatchObject([{ fingerprint: grant.fingerprint }]);
  await revoke(grant.fingerprint);
  await vi.waitFor(() => expect(engine.parts.grantBook.findByToken(token)).toBeInstanceOf(Promise));
  expect((await findCaller(token)).chain).toMatchObject([{ revoked_at: expect.any(Number) }]);
});

test('a chain that was read while it was revoked is not remembered', async () => {
  const { token, grant } = await mint();
  const { grantBook } = engine.parts;
  const reading = grantBook.findByToken(token);
  grantBook.forget(grant.fingerprint);
  await reading;
  expect(grantBook.findByToken(token)).toBeInstanceOf(Promise);
});

test('a call that waited until changes are heard again knows of the revocations that were missed', async () => {
  const { token, grant } = await mint();
  const caller = await findCaller(token);
  const { subscriptions, grantBook, catalogue } = engine.parts;
  vi.spyOn(grantBook, 'forget').mockImplementation(() => undefined);
  for (const { onLost } of subscriptions) onLost?.();
  expect(catalogue.staleSince).toBeDefined();
  const waiting = call(caller).catch((error: unknown) => error);
  await revoke(grant.fingerprint);
  for (const { onConnected } of subscriptions) await onConnected?.();
  expect(await waiting).toMatchObject({ code: 'revoked' });
});

test('a queued call of a grant that is gone is denied', async () => {
  const queued = {
    id: `inv_${'0'.repeat(32)}`,
    trace: `t_${'0'.repeat(32)}`,
    parent: null,
    depth: 0,
    key: 'ECHO',
    input: { body: 'a' },
    actor: `cap:${'0'.repeat(32)}`,
    grant: `cap_${'0'.repeat(32)}`,
    audience: null,
    startedAt: Date.now(),
    mode: 'async',
    rowVersion: 1,
    expectContract: null,
    onBehalfOf: null,
    reason: null,
    traceparent: null,
    replayOf: null,
    repairs: null,
  } as const;
  const { receipt } = await engine.parts.engine.runQueued(queued, 'default');
  expect(receipt).toMatchObject({ outcome: 'denied', error: 'unauthorized', actor: queued.actor, ask_id: null });
});
