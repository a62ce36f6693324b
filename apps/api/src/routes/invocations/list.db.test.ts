import type { Receipt } from '@rowcall/protocol';
import { insertReceipts } from '@rowcall/store';
import { makeReceipt } from '@rowcall/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BASE_URL, startTestApi, type TestApi } from '../../testing/test-api.js';

interface Listed {
  readonly invocations: readonly (Receipt & { links: Record<string, string> })[];
  readonly next_cursor: string | null;
  readonly summary: Record<string, unknown> | null;
}

const MISSED = { outcome: 'failed', status: 'PROVEN_ATTEMPT_NO_MATERIAL_RESULT', material: false } as const;

/** An id that begins with a moment, and ends with a number. */
const toId = (at: string, number: number): string =>
  `inv_${Date.parse(at).toString(16).padStart(12, '0')}7${number.toString(16).padStart(19, '0')}`;

const MARCH = { id: toId('2026-03-01T00:00:00Z', 1), key: 'MARCH', actor: 'cap:a', trace: `t_${'a'.repeat(32)}` };
const APRIL = { ...MISSED, id: toId('2026-04-01T00:00:00Z', 2), key: 'APRIL', error: 'upstream_404', tokens_out: 9 };
const MAY = { ...MISSED, id: toId('2026-05-01T00:00:00Z', 3), key: 'MAY', actor: 'cap:a', outcome: 'denied' } as const;

let api: TestApi;

const insert = (...receipts: Partial<Receipt>[]) =>
  insertReceipts(
    api.context.store.ledgerPool,
    receipts.map((receipt) => makeReceipt(receipt)),
  );
const read = async (query: string) => (await api.owner.get(`/api/invocations${query}`)).json<Listed>();
const readKeys = async (query: string) => (await read(query)).invocations.map(({ key }) => key);

beforeAll(async () => {
  api = await startTestApi();
  await insert(MARCH, APRIL, MAY);
});
afterAll(() => api.close());

describe('GET /api/invocations', () => {
  it('lists everything of the receipts but their payloads, newest first, with addresses', async () => {
    const { invocations, next_cursor } = await read('');
    expect(invocations.map(({ key }) => key)).toEqual(['MAY', 'APRIL', 'MARCH']);
    expect(next_cursor).toBeNull();
    expect(invocations[2]).toEqual({
      ...makeReceipt(MARCH).receipt,
      links: {
        confirm: `${BASE_URL}/api/dispatch?confirm=${MARCH.id}`,
        receipt: `${BASE_URL}/api/dispatch?receipt=${MARCH.id}`,
        public_receipt: `${BASE_URL}/receipt/${MARCH.id}`,
        trace: `${BASE_URL}/api/invocations?trace=${MARCH.trace}`,
      },
    });
  });

  it('has a call as soon as it is answered', async () => {
    const answer = await api.owner.invoke({ key: 'ECHO', body: 'hello', reason: 'listed at once' });
    const { proof } = answer.json<{ proof: { invocation_id: string } }>();
    const { invocations } = await read('?key=ECHO&limit=1');
    expect(invocations).toMatchObject([{ id: proof.invocation_id, reason: 'listed at once', material: true }]);
  });

  it.each([
    ['?key=APRIL', ['APRIL']],
    [`?trace=${MARCH.trace}`, ['MARCH']],
    ['?actor=cap:a', ['MAY', 'MARCH']],
    ['?outcome=denied', ['MAY']],
    ['?material=false', ['MAY', 'APRIL']],
    ['?material=true&actor=cap:a', ['MARCH']],
    ['?waste=true', ['APRIL']],
    ['?from=2026-04-01T00:00:00Z&to=2026-05-01T00:00:00Z', ['APRIL']],
    ['?from=2026-03-01T01:00:00%2B01:00&to=2026-03-01T00:00:00.001Z', ['MARCH']],
    ['?actor=cap:a&outcome=denied&material=false&key=MAY&from=2026-01-01T00:00:00Z', ['MAY']],
    ['?key=NEVER', []],
  ])('%s gives what fits', async (query, keys) => {
    expect(await readKeys(query)).toEqual(keys);
  });

  it('sums up what fits, on the first page or where it is asked for', async () => {
    const first = await read('?actor=cap:a&limit=1');
    expect(first.summary).toMatchObject({
      over: 2,
      complete: true,
      outcomes: { succeeded: 1, failed: 0, denied: 1 },
      material_rate: 0.5,
      waste_rate: 0,
      p50_ms: 6,
    });
    const next = `?actor=cap:a&limit=1&cursor=${first.next_cursor}`;
    expect((await read(next)).summary).toBeNull();
    expect((await read(`${next}&summary=1`)).summary).toEqual(first.summary);
    expect((await read('?actor=cap:a&summary=0')).summary).toBeNull();
  });

  it('neither loses nor repeats a receipt while others are added', async () => {
    const minute = (number: number) => toId(new Date(Date.parse('2026-06-01') + number * 60_000).toISOString(), 0);
    const paged = Array.from({ length: 20 }, (_, number) => ({ id: minute(number * 10), key: 'PAGED' }));
    await insert(...paged);
    const seen: string[] = [];
    let added = 0;
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Listed = await read(`?key=PAGED&limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`);
      seen.push(...page.invocations.map(({ id }) => id));
      cursor = page.next_cursor;
      // One that is newer than all, and one between those that were already listed, which was committed late.
      added += 1;
      await insert({ id: minute(1_000 + added), key: 'PAGED' }, { id: minute(190 + added), key: 'PAGED' });
    }
    expect(seen).toEqual(paged.map(({ id }) => id).reverse());
  });

  it.each([
    'limit=0',
    'limit=201',
    'limit=ten',
    'outcome=lucky',
    'material=perhaps',
    'waste=false',
    'waste=true&material=true',
    'from=yesterday',
    'from=2026-01-01',
    'from=2026-05-01T00:00:00Z&to=2026-05-01T00:00:00Z',
    'key=',
    'key=a%00b',
    'cursor=',
    'cursor=nonsense',
    `cursor=${Buffer.from('inv_1').toString('base64url')}`,
    'summary=yes',
    'sort=key',
  ])('refuses ?%s', async (query) => {
    const answer = await api.owner.get(`/api/invocations?${query}`);
    expect(answer).toMatchObject({ status: 400 });
    expect(answer.json()).toMatchObject({ error: 'unrecognized_request' });
  });

  it('is for the owner, and kept nowhere on its way', async () => {
    expect(await api.anyone.get('/api/invocations')).toMatchObject({ status: 401 });
    expect((await api.owner.get('/api/invocations')).headers['cache-control']).toBe('no-store');
  });
});
