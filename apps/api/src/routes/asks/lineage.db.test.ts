import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askAs, findAsk, flushAsks, untilKept } from '../../testing/asks.js';
import { type Answer, buildClient } from '../../testing/client.js';
import { mintGrant, type TestGrant } from '../../testing/grants.js';
import { startTestApi, type TestApi } from '../../testing/test-api.js';

const QUESTION = 'what time is it';
const NO_ASK = `ask_${'0'.repeat(32)}`;

let api: TestApi;
let other: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  other = await startTestApi({ databaseUrl: api.databaseUrl });
});
afterAll(async () => {
  await other.close();
  await api.close();
});

const mint = (more: object = {}): Promise<TestGrant> => mintGrant(api, { scope: { keys: ['NOW', 'ECHO'] }, ...more });
const idOf = (answer: Answer): string => answer.json<{ proof: { invocation_id: string } }>().proof.invocation_id;
const readReceipt = async (id: string) =>
  (await api.owner.get(`/api/dispatch?receipt=${id}`)).json<{ receipt: { ask_id: string | null } }>().receipt;

describe('an ask', () => {
  it('is kept a second after its answer, which does not wait for it', async () => {
    const { holder, actor } = await mint();
    const { id, best } = await askAs(holder, QUESTION);
    expect(id).toMatch(/^ask_[0-9a-f]{12}7[0-9a-f]{19}$/);
    expect(await untilKept(api, id)).toMatchObject({
      actor,
      question: QUESTION,
      best,
      keys: expect.arrayContaining(['NOW']),
      times: 1,
      read_keys: [],
      invoked: null,
    });
  });

  it('is one with its repetitions within a minute', async () => {
    const { holder } = await mint();
    const asked = await Promise.all([1, 2, 3].map(() => askAs(holder, QUESTION)));
    await flushAsks(api);
    asked.push(await askAs(holder, QUESTION));
    await flushAsks(api);
    expect(new Set(asked.map(({ id }) => id)).size).toBe(1);
    expect(await findAsk(api, asked[0]?.id ?? '')).toMatchObject({ times: 4 });
    expect((await askAs(api.owner, QUESTION)).id).not.toBe(asked[0]?.id);
    expect((await askAs(holder, `${QUESTION} now`)).id).not.toBe(asked[0]?.id);
  });

  it('of anyone is one of its address alone', async () => {
    const [first, second] = [await askAs(api.anyone, 'who is there'), await askAs(api.anyone, 'who is there')];
    expect(first.id).not.toBe(second.id);
  });

  it('leads to the call that names it, in any process', async () => {
    const { holder, token } = await mint();
    const { id } = await askAs(holder, QUESTION);
    await flushAsks(api);
    const elsewhere = buildClient(other.app, { authorization: `Bearer ${token}` });
    const answer = await elsewhere.invoke({ key: 'NOW', body: '', ask_id: id });
    expect(answer.status).toBe(200);
    expect(await readReceipt(idOf(answer))).toMatchObject({ key: 'NOW', ask_id: id });
    expect(await findAsk(api, id)).toMatchObject({ invoked: { invocation_id: idOf(answer), key: 'NOW', by: 'named' } });
  });

  it('leads to the call that names it in a link', async () => {
    const { token, holder } = await mint();
    const { id } = await askAs(holder, QUESTION);
    await flushAsks(api);
    const answer = await api.anyone.get(`/api/dispatch?invoke=NOW&ask_id=${id}&share=${token}`);
    expect(answer.status).toBe(200);
    expect(await findAsk(api, id)).toMatchObject({ invoked: { invocation_id: idOf(answer), by: 'named' } });
  });

  it('of anyone leads to the call of anybody that names it, and to none by time', async () => {
    const [named, unnamed] = [await askAs(api.anyone, QUESTION), await askAs(api.anyone, QUESTION)];
    await flushAsks(api);
    const { holder } = await mint();
    await holder.invoke({ key: 'NOW', body: '', ask_id: named.id });
    await holder.invoke({ key: 'NOW', body: '' });
    expect(await findAsk(api, named.id)).toMatchObject({ actor: 'anyone', invoked: { key: 'NOW', by: 'named' } });
    expect(await findAsk(api, unnamed.id)).toMatchObject({ invoked: null });
  });

  it('leads to the next call of the same caller that names none', async () => {
    const { holder } = await mint();
    const { id } = await askAs(holder, QUESTION);
    await flushAsks(api);
    await api.owner.invoke({ key: 'NOW', body: '' });
    expect(await findAsk(api, id)).toMatchObject({ invoked: null });
    const answer = await holder.invoke({ key: 'NOW', body: '' });
    expect(await findAsk(api, id)).toMatchObject({ invoked: { invocation_id: idOf(answer), by: 'matched' } });
  });

  it('has all calls that name it in the ledger', async () => {
    const { holder } = await mint();
    const { id } = await askAs(holder, QUESTION);
    await holder.invoke({ key: 'NOW', body: '' });
    const named = [await holder.invoke({ key: 'NOW', body: '', ask_id: id })];
    named.push(await holder.invoke({ key: 'ECHO', body: 'a', ask_id: id }));
    const listed = await holder.get(`/api/invocations?ask_id=${id}`);
    const { invocations } = listed.json<{ invocations: { id: string }[] }>();
    expect(invocations.map((invocation) => invocation.id)).toEqual(named.map(idOf).reverse());
    const both = await holder.get(`/api/invocations?ask_id=${id}&key=ECHO`);
    expect(both.json()).toMatchObject({ invocations: [{ key: 'ECHO', ask_id: id }], next_cursor: null });
    expect(await api.owner.get('/api/invocations?ask_id=ask_1')).toMatchObject({ status: 400 });
  });

  it('stays with a call through the wait for a person', async () => {
    const { holder } = await mint({ owner_gate: true });
    const { id } = await askAs(holder, QUESTION);
    const parked = (await holder.invoke({ key: 'NOW', body: '', ask_id: id })).json<{ invocation_id: string }>();
    const approved = await api.owner.post(`/api/approvals/${parked.invocation_id}/approve`, {});
    expect(approved.status).toBe(200);
    expect(await readReceipt(parked.invocation_id)).toMatchObject({ ask_id: id });
  });

  it('knows which contracts were read in its name, in any process', async () => {
    const { holder, token } = await mint();
    const { id } = await askAs(holder, QUESTION);
    await flushAsks(api);
    const elsewhere = buildClient(other.app, { authorization: `Bearer ${token}` });
    for (const more of ['', '&detail=full', '&format=skill']) {
      expect((await elsewhere.get(`/api/dispatch?key=NOW&ask_id=${id}${more}`)).status).toBe(200);
    }
    await flushAsks(other);
    expect(await findAsk(api, id)).toMatchObject({ read_keys: ['NOW'] });
  });
});

describe('a call that names an ask', () => {
  it('that there is not, or of another caller, runs all the same, and counts for nothing', async () => {
    const [own, foreign] = [await mint(), await mint()];
    const { id } = await askAs(own.holder, QUESTION);
    await flushAsks(api);
    for (const ask_id of [id, NO_ASK]) {
      const answer = await foreign.holder.invoke({ key: 'NOW', body: '', ask_id });
      expect(answer.status).toBe(200);
      expect(await readReceipt(idOf(answer))).toMatchObject({ ask_id });
    }
    await foreign.holder.get(`/api/dispatch?key=NOW&ask_id=${id}`);
    await flushAsks(api);
    expect(await findAsk(api, id)).toMatchObject({ invoked: null, read_keys: [] });
  });

  it.each(['', 'ask_1', NO_ASK.toUpperCase(), `${NO_ASK}0`, ` ${NO_ASK}`, 'inv_00000000000070000000000000000000'])(
    'by what is no id is refused: %j',
    async (ask_id) => {
      const { holder, token } = await mint();
      const query = `ask_id=${encodeURIComponent(ask_id)}`;
      const answers = [
        await holder.invoke({ key: 'NOW', body: '', ask_id }),
        await api.anyone.get(`/api/dispatch?invoke=NOW&${query}&share=${token}`),
        await api.anyone.get(`/api/dispatch?key=NOW&${query}`),
      ];
      for (const answer of answers) {
        expect(answer.status).toBe(400);
        expect(answer.json()).toMatchObject({
          error: 'unrecognized_request',
          detail: expect.stringContaining('ask_id'),
        });
      }
    },
  );

  it('is the same request as one that names another', async () => {
    const once = { 'idempotency-key': 'asked-twice' };
    const first = await api.owner.invoke({ key: 'ECHO', body: 'a' }, once);
    const again = await api.owner.invoke({ key: 'ECHO', body: 'a', ask_id: NO_ASK }, once);
    expect(again).toMatchObject({ status: 200, text: first.text });
  });
});
