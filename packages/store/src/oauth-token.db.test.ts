import { type TestStore, testStore } from '@rowcall/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { claimOauthToken, findOauthToken, releaseOauthToken, saveOauthToken } from './oauth-token.js';

const KEY = { label: 'CRM', configHash: 'a'.repeat(64) };
const OTHER_KEY = { label: 'CRM', configHash: 'b'.repeat(64) };
const LONG = { leaseMs: 60_000 };
const NOTHING = { sealed: null, expiresInMs: null, generation: 0 };

let database: TestStore;
beforeAll(async () => {
  database = await testStore();
});
afterAll(() => database.drop());
beforeEach(() => database.store.pool.query('delete from oauth_token'));

const claim = (owner: string, leaseMs = LONG.leaseMs, key = KEY) =>
  claimOauthToken(database.store.db, key, { owner, leaseMs });
const save = (owner: string, generation: number, text: string, expiresInMs: number | null = null) =>
  saveOauthToken(database.store.db, KEY, { sealed: Buffer.from(text), expiresInMs, generation, owner });

describe('the lease on a token', () => {
  test('is one owner’s, whoever asks at the same time', async () => {
    const claims = await Promise.all(['one', 'two', 'three', 'four'].map((owner) => claim(owner)));
    expect(claims.filter((claimed) => claimed !== undefined)).toEqual([NOTHING]);
    expect(await claim('five', LONG.leaseMs, OTHER_KEY)).toEqual(NOTHING);
    expect(await claim('five', LONG.leaseMs, OTHER_KEY)).toEqual(NOTHING);
  });

  test('that is over is taken by the next, and no longer the first one’s to give back', async () => {
    await claim('one', -1);
    expect(await claim('two')).toEqual(NOTHING);
    await releaseOauthToken(database.store.db, KEY, 'one');
    expect(await claim('three')).toBeUndefined();
    await releaseOauthToken(database.store.db, KEY, 'two');
    expect(await claim('three')).toEqual(NOTHING);
  });
});

describe('a token', () => {
  test('that is stored ends the lease and goes up by one', async () => {
    await claim('one');
    expect(await save('one', 0, 'first', 60_000)).toBe(true);
    const found = await findOauthToken(database.store.db, KEY);
    expect(found).toMatchObject({ sealed: Buffer.from('first'), generation: 1 });
    expect(found?.expiresInMs).toBeGreaterThan(0);
    expect(found?.expiresInMs).toBeLessThanOrEqual(60_000);
    expect(await claim('two')).toMatchObject({ generation: 1 });
  });

  test('of an older generation is not stored over a newer one', async () => {
    await claim('one', -1);
    await claim('two');
    expect(await save('two', 0, 'newer')).toBe(true);
    expect(await save('one', 0, 'older')).toBe(false);
    expect(await findOauthToken(database.store.db, KEY)).toMatchObject({ sealed: Buffer.from('newer') });
  });

  test('that comes late, but first, leaves the lease of the next owner alone', async () => {
    await claim('one', -1);
    await claim('two');
    expect(await save('one', 0, 'late')).toBe(true);
    expect(await claim('three')).toBeUndefined();
    expect(await save('two', 0, 'later')).toBe(false);
  });

  test('of another configuration is not found', async () => {
    await claim('one');
    await save('one', 0, 'first');
    expect(await findOauthToken(database.store.db, OTHER_KEY)).toBeUndefined();
  });
});
