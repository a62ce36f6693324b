import { insertEvents } from '@rowcall/store';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type EventClient, openEvents } from '../../testing/event-client.js';
import { startTestApi, type TestApi } from '../../testing/test-api.js';

interface Page {
  readonly events: readonly { readonly id: number; readonly kind: string; readonly reason: string | null }[];
  readonly next_cursor: number | null;
}

let api: TestApi;
let other: TestApi;
let address: string;
let otherAddress: string;
const clients: EventClient[] = [];
beforeAll(async () => {
  api = await startTestApi();
  other = await startTestApi({ databaseUrl: api.databaseUrl });
  [address, otherAddress] = [await api.listen(), await other.listen()];
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.leave();
  await vi.waitUntil(() => api.context.events.size + other.context.events.size === 0, 5_000);
});
afterAll(async () => {
  await other.close();
  await api.close();
});

const open = async (options: Parameters<typeof openEvents>[1] = {}, at = address): Promise<EventClient> => {
  const client = await openEvents(at, options);
  clients.push(client);
  return client;
};
const write = (reason: string, more: { kind?: string; key?: string; actor?: string } = {}) =>
  insertEvents(api.context.store.db, [{ kind: 'TEST', actor: 'tester', reason, ...more }]);
const list = async (query: string): Promise<Page> => {
  const answer = await api.owner.get(`/api/events?${query}`);
  expect(answer.status).toBe(200);
  return answer.json<Page>();
};
const reasonsOf = (page: Page | EventClient): (string | null)[] =>
  'until' in page ? page.events().map(({ data }) => data.reason) : page.events.map(({ reason }) => reason);

describe('a page of events', () => {
  beforeAll(async () => {
    for (const n of [1, 2, 3, 4, 5]) await write(`page ${n}`, { actor: 'pager', kind: n === 3 ? 'THIRD' : 'TEST' });
    await write('page 6', { actor: 'pager', key: 'PAGED' });
  });

  it('has the newest first, all of every one, and where the next page begins', async () => {
    const first = await list('actor=pager&limit=4');
    expect(reasonsOf(first)).toEqual(['page 6', 'page 5', 'page 4', 'page 3']);
    expect(first.events[0]).toEqual({
      id: expect.any(Number),
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      kind: 'TEST',
      actor: 'pager',
      key: 'PAGED',
      reason: 'page 6',
      detail: {},
    });
    const last = await list(`actor=pager&limit=4&before=${first.next_cursor}`);
    expect(reasonsOf(last)).toEqual(['page 2', 'page 1']);
    expect(last.next_cursor).toBeNull();
  });

  it('can be read forwards', async () => {
    const first = await list('actor=pager&limit=5&order=asc');
    expect(reasonsOf(first)).toEqual(['page 1', 'page 2', 'page 3', 'page 4', 'page 5']);
    const last = await list(`actor=pager&order=asc&after=${first.next_cursor}`);
    expect(reasonsOf(last)).toEqual(['page 6']);
    expect(last.next_cursor).toBeNull();
  });

  it('has only what is asked for', async () => {
    expect(reasonsOf(await list('kind=THIRD'))).toEqual(['page 3']);
    expect(reasonsOf(await list('key=PAGED'))).toEqual(['page 6']);
    expect(reasonsOf(await list('key=PAGED&kind=THIRD'))).toEqual([]);
    const [sixth, , fourth] = (await list('actor=pager')).events;
    expect(reasonsOf(await list(`actor=pager&after=${fourth?.id}&before=${sixth?.id}`))).toEqual(['page 5']);
  });

  it('is kept nowhere on its way', async () => {
    const { headers } = await api.owner.get('/api/events?limit=1');
    expect(headers).toMatchObject({ 'cache-control': 'no-store', vary: 'accept, authorization, x-terminal-key' });
  });

  it.each([
    'limit=0',
    'limit=501',
    'after=x',
    'after=-1',
    'before=1e99',
    'order=up',
    'since=1',
    'kind=',
    'kind=%00',
    'key=%00',
    'actor=%00',
  ])('is refused for ?%s', async (query) => {
    expect((await api.owner.get(`/api/events?${query}`)).json()).toMatchObject({
      status: 400,
      error: 'unrecognized_request',
    });
  });

  it('tells of a denied call: who, what, why, and its receipt', async () => {
    const denied = await api.owner.invoke({ key: 'NO_SUCH_ROW', body: '' });
    const { receipt } = denied.json<{ receipt: string }>();
    const { events } = await list('kind=DENY&key=NO_SUCH_ROW');
    expect(events).toEqual([
      expect.objectContaining({
        actor: 'owner',
        reason: 'unknown_key',
        detail: { receipt: expect.stringMatching(/^inv_/), trace: expect.stringMatching(/^t_/) },
      }),
    ]);
    expect(JSON.stringify(receipt)).toContain((events[0] as unknown as { detail: { receipt: string } }).detail.receipt);
  });

  it('tells of nothing for a call that ran', async () => {
    await api.owner.invoke({ key: 'ECHO', body: 'a' });
    expect((await list('kind=DENY&key=ECHO')).events).toEqual([]);
  });
});

describe('a stream of events', () => {
  it('is server-sent events that nobody keeps or holds back', async () => {
    const client = await open();
    expect(client.status).toBe(200);
    expect(client.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      vary: 'accept, authorization, x-terminal-key',
    });
    await vi.waitUntil(() => client.text() === 'retry: 2000\n\n');
  });

  it('tells what happens from now on, whichever process does it', async () => {
    const [here, there] = [await open(), await open({}, otherAddress)];
    await other.owner.post('/api/directory', {
      key: 'FOLLOWED',
      type: 'fn',
      target: 'ECHO',
      content: '# WHAT: Echo.',
      examples: ['a'],
    });
    await write('end');
    await Promise.all([here.until('end'), there.until('end')]);
    const [change] = here.events();
    expect(change).toEqual({
      id: expect.any(Number),
      event: 'DIRECTORY_MUTATE',
      data: {
        id: change?.id,
        at: expect.any(String),
        kind: 'DIRECTORY_MUTATE',
        actor: 'owner',
        key: 'FOLLOWED',
        reason: null,
        detail: { action: 'insert', version: 1 },
      },
    });
    expect(here.events()).toHaveLength(2);
    expect(there.events()).toEqual(here.events());
  });

  it('goes on behind the last id that the client has, at another process as well', async () => {
    const first = await open();
    await write('one');
    await write('two');
    await first.until('two');
    const seen = first.events()[0]?.id;
    first.leave();
    await write('three');
    for (const options of [{ headers: { 'last-event-id': `${seen}` } }, { query: `?after=${seen}` }]) {
      const again = await open(options, otherAddress);
      await again.until('three');
      expect(reasonsOf(again)).toEqual(['two', 'three']);
    }
  });

  it('goes by Last-Event-ID when a browser sends it beside the address that it first had', async () => {
    const first = await open();
    await write('one');
    await write('two');
    await first.until('two');
    const [one, two] = first.events();
    const again = await open({ query: `?after=${one?.id}`, headers: { 'last-event-id': `${two?.id}` } });
    await write('three');
    await again.until('three');
    expect(reasonsOf(again)).toEqual(['three']);
  });

  it('has only what is asked for', async () => {
    const client = await open({ query: '?kind=WANTED&actor=a&key=K' });
    await write('other kind', { actor: 'a', key: 'K' });
    await write('other actor', { kind: 'WANTED', key: 'K' });
    await write('other key', { kind: 'WANTED', actor: 'a' });
    await write('wanted', { kind: 'WANTED', actor: 'a', key: 'K' });
    await client.until('wanted');
    expect(reasonsOf(client)).toEqual(['wanted']);
  });

  it('loses nothing when the process loses its connection for notifications', async () => {
    const client = await open();
    const { rowCount } = await api.context.store.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name = 'rowcall-api-listen'`,
    );
    expect(rowCount).toBe(2);
    await write('meanwhile');
    await client.until('meanwhile');
    expect(reasonsOf(client)).toEqual(['meanwhile']);
  });

  it('frees everything when the last client goes, and begins again for the next', async () => {
    const { events } = api.context;
    const two = [await open(), await open()];
    expect([events.size, events.isFollowing]).toEqual([2, true]);
    two[0]?.leave();
    await vi.waitUntil(() => events.size === 1);
    expect(events.isFollowing).toBe(true);
    two[1]?.leave();
    await vi.waitUntil(() => events.size === 0);
    expect(events.isFollowing).toBe(false);
    const next = await open();
    await write('next');
    await next.until('next');
  });

  it.each(['limit=1', 'before=9', 'order=asc', 'since=1', 'after=x'])('is refused for ?%s', async (query) => {
    const answer = await open({ query: `?${query}` });
    expect(answer.status).toBe(400);
    await vi.waitUntil(() => answer.isEnded());
    expect(JSON.parse(answer.text())).toMatchObject({ error: 'unrecognized_request' });
    expect(api.context.events.size).toBe(0);
  });

  it('is refused for a Last-Event-ID that is none', async () => {
    expect((await open({ headers: { 'last-event-id': 'yesterday' } })).status).toBe(400);
  });

  it('is for the owner alone', async () => {
    expect((await open({ headers: { authorization: 'Bearer wrong' } })).status).toBe(401);
    expect(api.context.events.size).toBe(0);
  });

  it('answers HEAD without a stream', async () => {
    const headers = { accept: 'text/event-stream' };
    const answer = await api.owner.send('HEAD', '/api/events', { headers });
    expect(answer).toMatchObject({ status: 200, text: '' });
    expect(answer.headers['content-type']).toBe('text/event-stream');
    expect(api.context.events.size).toBe(0);
  });
});
