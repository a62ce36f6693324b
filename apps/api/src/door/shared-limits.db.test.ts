import { type EchoUpstream, startEchoUpstream } from '@rowcall/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, buildClient } from '../testing/client.js';
import { deriveGrant, mintGrant, type TestGrant } from '../testing/grants.js';
import { startTestApi, type TestApi } from '../testing/test-api.js';

const CALLS = 500;
const ALLOWED = 100;

let first: TestApi;
let second: TestApi;
let upstream: EchoUpstream;
beforeAll(async () => {
  upstream = await startEchoUpstream();
  first = await startTestApi();
  second = await startTestApi({ databaseUrl: first.databaseUrl });
});
afterAll(async () => {
  await second.close();
  await first.close();
  await upstream.close();
});

async function addRow(key: string, method: 'GET' | 'POST'): Promise<void> {
  const answer = await first.owner.post('/api/directory', {
    key,
    type: 'http',
    target: `${method} ${upstream.url}/${key}`,
    content: '# WHAT: Is called.',
    examples: ['a'],
    limits: { cost_usd: 0.01 },
  });
  expect(answer.status, answer.text).toBe(201);
  for (const { context } of [first, second]) await context.catalogue.ensure(key, 1);
}

/** Sends all calls at the same time, half of them to each process, in turn by each of the tokens. */
function callAtOnce(key: string, grants: readonly TestGrant[]): Promise<Answer[]> {
  const clients = [first, second].flatMap(({ app }) =>
    grants.map(({ token }) => buildClient(app, { 'x-share': token })),
  );
  return Promise.all(
    Array.from({ length: CALLS }, (_, turn) => clients[turn % clients.length]?.invoke({ key }) as Promise<Answer>),
  );
}

async function readCounts(key: string) {
  const { rows } = await first.context.store.pool.query<{ outcome: string; error: string | null; count: string }>(
    'select outcome, error, count(*) from receipt where key = $1 group by outcome, error order by outcome',
    [key],
  );
  return rows.map(({ outcome, error, count }) => ({ outcome, error, count: Number(count) }));
}

const readUse = async ({ fingerprint }: TestGrant) => {
  const { rows } = await first.context.store.pool.query(
    'select uses, spent_usd, window_calls from capability_grant where fingerprint = $1',
    [fingerprint],
  );
  return rows[0] as { uses: string; spent_usd: string; window_calls: number };
};

const LIMITS = [
  ['max_uses', { max_uses: ALLOWED }, 'token_exhausted'],
  ['rate_per_minute', { rate_per_minute: ALLOWED }, 'rate_limited'],
  ['budget_usd', { budget_usd: 1 }, 'budget_exhausted'],
] as const;

describe.each(['GET', 'POST'] as const)(
  'of 500 calls by %s at once through two processes exactly 100 run',
  (method) => {
    describe.each(LIMITS)('for a limit of %s', (name, terms, reason) => {
      it.each([
        ['the grant itself', 0],
        ['three grants that derive from it, and it', 3],
      ] as const)('through %s', async (_through, children) => {
        const key = `${method}_${name}_${children}`.toUpperCase();
        await addRow(key, method);
        const root = await mintGrant(first, { scope: { keys: [key] }, ...terms });
        const derived = await Promise.all(Array.from({ length: children }, () => deriveGrant(first, root)));
        const grandchild = derived[0] === undefined ? [] : [await deriveGrant(first, derived[0])];

        const answers = await callAtOnce(key, [root, ...derived, ...grandchild]);

        expect(answers.filter(({ status }) => status === 200)).toHaveLength(ALLOWED);
        expect(answers.filter(({ status }) => status === 429)).toHaveLength(CALLS - ALLOWED);
        expect(await readCounts(key)).toEqual([
          { outcome: 'denied', error: reason, count: CALLS - ALLOWED },
          { outcome: 'succeeded', error: null, count: ALLOWED },
        ]);
        expect(upstream.requests.filter(({ path }) => path === `/${key}`)).toHaveLength(ALLOWED);
        expect(await readUse(root)).toMatchObject({
          uses: String(ALLOWED),
          spent_usd: '1.000000',
          window_calls: ALLOWED,
        });
        const { rows } = await first.context.store.pool.query('select count(*)::int as left from opened');
        expect(rows).toEqual([{ left: 0 }]);
      });
    });
  },
);

describe('limits of a grant and of what derives from it', () => {
  it('hold each by itself as well: a child that may less stops earlier than its parent', async () => {
    await addRow('NESTED', 'GET');
    const root = await mintGrant(first, { scope: { keys: ['NESTED'] }, max_uses: 5 });
    const child = await deriveGrant(first, root, { max_uses: 2 });
    const statuses = async (grant: TestGrant, calls: number) => {
      const client = buildClient(second.app, { 'x-share': grant.token });
      const answers = await Promise.all(Array.from({ length: calls }, () => client.invoke({ key: 'NESTED' })));
      return answers.map(({ status }) => status).sort();
    };
    expect(await statuses(child, 3)).toEqual([200, 200, 429]);
    expect(await statuses(root, 4)).toEqual([200, 200, 200, 429]);
  });

  it('leave the rate of a row to others when nothing is left of the grant', async () => {
    const answer = await first.owner.post('/api/directory', {
      key: 'SCARCE',
      type: 'fn',
      target: 'ECHO',
      content: '# WHAT: Echo.',
      examples: ['a'],
      limits: { rate_per_minute: 2 },
    });
    expect(answer.status, answer.text).toBe(201);
    const spent = await mintGrant(first, { scope: { keys: ['SCARCE'] }, max_uses: 1 });
    const statuses = [];
    for (let turn = 0; turn < 5; turn += 1) statuses.push((await spent.holder.invoke({ key: 'SCARCE' })).status);
    expect(statuses).toEqual([200, 429, 429, 429, 429]);
    expect((await first.owner.invoke({ key: 'SCARCE' })).status).toBe(200);
    expect((await first.owner.invoke({ key: 'SCARCE' })).json()).toMatchObject({ error: 'rate_limited' });
  });
});
