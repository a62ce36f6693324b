import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mintGrant } from '../testing/grants.js';
import { importLines, makeLine } from '../testing/import.js';
import { startTestApi, type TestApi } from '../testing/test-api.js';

const ROWS = 10_000;
/** Ten rows among many alike. */
const COVERED = Array.from({ length: 10 }, (_, index) => `LAMP_${index * 997 + 3}`);

const makeLamp = (index: number): object =>
  makeLine(`LAMP_${index}`, {
    category: index % 2 === 0 ? 'even' : 'odd',
    content: `# WHAT: Switches the lamp number ${index} in the hallway.`,
    effect: index % 100 === 1 ? 'destructive' : 'read',
  });

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  await importLines(
    api.owner,
    Array.from({ length: ROWS }, (_, index) => makeLamp(index)),
  );
}, 120_000);
afterAll(() => api.close());

interface Match {
  readonly key: string;
  readonly effect: string;
  readonly why?: Readonly<Record<string, number>>;
}
interface Answer {
  readonly best: { readonly key: string; readonly contract?: { readonly what: string } } | null;
  readonly matches: readonly Match[];
  readonly message?: string;
  readonly categories?: Readonly<Record<string, number>>;
}

const keysOf = ({ matches }: Answer) => matches.map(({ key }) => key);
const ask = async (query: string): Promise<Answer> => {
  const answer = await api.anyone.get(`/api/dispatch?${query}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.json<Answer>();
};

describe('a grant that covers 10 of 10,000 rows', () => {
  it('is shown its ten rows, and no other, by ask, registry, map, contracts and the directory', async () => {
    const { holder } = await mintGrant(api, { scope: { keys: COVERED } });
    const asked = (await holder.get('/api/dispatch?ask=switch+the+lamp+in+the+hallway')).json<Answer>();
    expect([...keysOf(asked)].sort()).toEqual([...COVERED].sort());
    const registry = (await holder.get('/api/dispatch?registry=1')).json<{ registry: { key: string }[] }>();
    expect(registry.registry.map(({ key }) => key).sort()).toEqual([...COVERED].sort());
    const map = (await holder.get('/api/dispatch?map=odd')).json<{ children: { key: string }[] }>();
    expect(map.children.every(({ key }) => COVERED.includes(key))).toBe(true);
    expect((await holder.get('/api/dispatch?key=LAMP_4')).status).toBe(404);
    expect((await holder.get(`/api/dispatch?key=${COVERED[0]}`)).status).toBe(200);
  });

  it('is told of no other row when nothing fits', async () => {
    const { holder } = await mintGrant(api, { scope: { keys: COVERED } });
    const asked = (await holder.get('/api/dispatch?ask=uppercase+a+text+and+hash+it')).json<Answer>();
    expect(asked).toMatchObject({ best: null, categories: { even: 5, odd: 5 } });
    expect(keysOf(asked).filter((key) => !COVERED.includes(key))).toEqual([]);
    expect(asked.message?.match(/[A-Z_]{3,}\w*/g)?.filter((key) => !COVERED.includes(key)) ?? []).toEqual([]);
  });
});

describe('a question', () => {
  it('is narrowed by category, type and effect, and still answered with twelve rows', async () => {
    for (const [rest, category] of ['even', 'odd'].entries()) {
      const found = await ask(`ask=switch+the+lamp&category=${category}`);
      expect(found.matches).toHaveLength(12);
      expect(keysOf(found).every((key) => Number(key.slice(5)) % 2 === rest)).toBe(true);
    }
    const destructive = await ask('ask=switch+the+lamp&effect=destructive&type=fn');
    expect(destructive.matches).toHaveLength(12);
    expect(destructive.matches.every(({ effect }) => effect === 'destructive')).toBe(true);
    expect(await ask('ask=switch+the+lamp&type=flow')).toMatchObject({ best: null, matches: [] });
  });

  it('is answered without the contract on request', async () => {
    const [whole, bare] = [await ask('ask=use+NOW'), await ask('ask=use+NOW&contract=false')];
    expect(whole.best?.contract?.what).toContain('time');
    expect(bare.best).toMatchObject({ key: 'NOW' });
    expect(bare.best).not.toHaveProperty('contract');
  });

  it('is answered with what scores are made of on request', async () => {
    const { matches } = await ask('ask=switch+the+lamp&explain=1');
    expect(matches[0]?.why).toMatchObject({
      words: expect.any(Number),
      coverage: expect.any(Number),
      name: expect.any(Number),
    });
    expect((await ask('ask=switch+the+lamp')).matches[0]).not.toHaveProperty('why');
  });

  it('finds a row that was added a moment ago, and none that was removed', async () => {
    await importLines(api.owner, [makeLine('TROMBONE', { content: '# WHAT: Plays a trombone.' })]);
    expect((await ask('ask=play+the+trombone')).best).toMatchObject({ key: 'TROMBONE' });
    await api.owner.send('DELETE', '/api/directory/TROMBONE');
    expect(keysOf(await ask('ask=play+the+trombone'))).not.toContain('TROMBONE');
  });

  it.each(['category=odd', 'effect=read', 'contract=false', 'type=fn'])('alone takes %s', async (more) => {
    const answer = await api.anyone.get(`/api/dispatch?key=NOW&${more}`);
    expect([answer.status, answer.json()]).toMatchObject([400, { error: 'unrecognized_request' }]);
  });

  it.each(['effect=evil', 'type=odd', 'contract=true', 'explain=2'])('does not take %s', async (more) => {
    const answer = await api.anyone.get(`/api/dispatch?ask=lamp&${more}`);
    expect([answer.status, answer.json()]).toMatchObject([400, { error: 'unrecognized_request' }]);
  });

  it('tells how long the search took', async () => {
    const { headers } = await api.anyone.get('/api/dispatch?ask=lamp');
    expect(headers['server-timing']).toMatch(/^ask;dur=\d+\.\d+$/);
  });

  it('is cut at 2,000 characters, and says so', async () => {
    const answer = await ask(`ask=${'lamp+'.repeat(1_000)}`);
    expect(answer).toMatchObject({ read: 'the first 2000 characters' });
  });
});
