import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mintGrant, revokeGrant, type TestGrant } from '../testing/grants.js';
import { OWNER_KEY, startTestApi, type TestApi } from '../testing/test-api.js';

let api: TestApi;
let url: string;
let grant: TestGrant;
let other: TestGrant;
beforeAll(async () => {
  api = await startTestApi();
  url = await api.listen();
  grant = await mintGrant(api, { scope: { keys: ['ECHO'] } });
  other = await mintGrant(api, { scope: { keys: ['ECHO'] } });
});
afterAll(() => api.close());

const receiptCount = async (): Promise<number> =>
  Number((await api.context.store.pool.query('select count(*) from receipt')).rows[0].count);

const send = (method: string, path: string, headers: Record<string, string>, body?: object) =>
  api.anyone.send(method, path, { headers, ...(body === undefined ? {} : { body }) });

/** Over a connection of its own, as anybody may send it. */
async function sendOver(path: string, headers: Record<string, string>, body: object) {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}

describe('a token', () => {
  it.each(['Authorization', 'x-share', '?share=', 'body'])('is presented by %s', async (place) => {
    const { token } = grant;
    const headers = place === 'Authorization' ? { authorization: `Bearer ${token}` } : { 'x-share': token };
    const isHeader = place === 'Authorization' || place === 'x-share';
    const answer = await send(
      'POST',
      place === '?share=' ? `/api/dispatch?share=${token}` : '/api/dispatch',
      isHeader ? headers : {},
      { key: 'ECHO', body: 'a', ...(place === 'body' ? { share: token } : {}) },
    );
    expect(answer.status, answer.text).toBe(200);
    const { proof } = JSON.parse(answer.text) as { proof: { invocation_id: string } };
    const receipt = await api.owner.get(`/api/dispatch?receipt=${proof.invocation_id}`);
    expect(receipt.json()).toMatchObject({ receipt: { actor: grant.actor } });
  });

  it('may stand in all of these places at once', async () => {
    const { token } = grant;
    const answer = await send(
      'POST',
      `/api/dispatch?share=${token}`,
      { authorization: `Bearer ${token}`, 'x-share': token },
      { key: 'ECHO', share: token },
    );
    expect(answer.status, answer.text).toBe(200);
  });

  it.each([
    [
      'in two headers',
      (): [string, Record<string, string>, object] => [
        '',
        { authorization: `Bearer ${grant.token}`, 'x-share': other.token },
        {},
      ],
    ],
    ['in a header and the address', () => [`?share=${other.token}`, { 'x-share': grant.token }, {}]],
    ['twice in the address', () => [`?share=${grant.token}&share=${grant.token}`, { 'x-share': 'a' }, {}]],
    ['in a header and the body', () => ['', { 'x-share': grant.token }, { share: other.token }]],
    ['in the address and the body', () => [`?share=${grant.token}`, {}, { share: other.token }]],
  ] as const)('is refused with another one %s, and the process goes on', async (_where, parts) => {
    const [query, headers, more] = parts() as [string, Record<string, string>, object];
    const before = await receiptCount();
    const answer = await sendOver(`/api/dispatch${query}`, headers, { key: 'ECHO', ...more });
    expect(answer.status, answer.text).toBe(400);
    expect(JSON.parse(answer.text)).toMatchObject({ error: 'unrecognized_request' });
    expect(await receiptCount()).toBe(before);
    expect((await send('GET', '/livez', {})).status).toBe(200);
  });

  const real = () => grant.token;
  it.each([
    ['empty', () => ''],
    ['too short', () => real().slice(0, -1)],
    ['too long', () => `${real()}A`],
    ['very long', () => `sh.${'A'.repeat(250)}`],
    ['of another case', () => real().replace(/^sh/, 'SH')],
    ['of letters of another case', () => `sh.${real().slice(3).toLowerCase()}`],
    ['of a last letter that no 32 bytes end in', () => `${real().slice(0, -1)}B`],
    ['with a space', () => `${real()} `.replace(' ', '%20')],
    ['with a NUL', () => `${real()}%00`],
    ['its fingerprint', () => grant.fingerprint],
    ['its hash', () => 'a'.repeat(64)],
    ['the owner key', () => OWNER_KEY],
  ])('that is %s opens nothing, wherever it stands', async (_name, make) => {
    const before = await receiptCount();
    const text = make();
    const body = { key: 'ECHO' };
    const plain = decodeURIComponent(text).replaceAll('\0', '');
    expect((await send('POST', `/api/dispatch?share=${text}`, {}, body)).status).toBe(401);
    expect((await send('GET', `/api/dispatch?invoke=ECHO&share=${text}`, {})).status).toBe(401);
    expect((await send('GET', `/api/dispatch?key=ECHO&share=${text}`, {})).status).toBe(401);
    expect((await send('POST', '/api/dispatch', {}, { ...body, share: decodeURIComponent(text) })).status).toBe(401);
    if (plain !== OWNER_KEY && plain.trim() !== real()) {
      expect((await send('POST', '/api/dispatch', { authorization: `Bearer ${plain}` }, body)).status).toBe(401);
      expect((await send('POST', '/api/dispatch', { 'x-share': plain }, body)).status).toBe(401);
    }
    expect(await receiptCount()).toBe(before);
  });

  it('that is longer than any is refused before it is looked at', async () => {
    const long = `sh.${'A'.repeat(5_000)}`;
    expect((await send('POST', '/api/dispatch', {}, { key: 'ECHO', share: long })).status).toBe(400);
    expect((await send('POST', '/api/dispatch', { 'x-share': long }, { key: 'ECHO' })).status).toBe(401);
    expect((await send('GET', `/api/dispatch?invoke=ECHO&share=${long}`, {})).status).toBe(400);
  });

  it.each(['Authorization', 'x-share', '?share=', 'body'])(
    'by %s holds, where the owner key comes with it',
    async (place) => {
      const { token } = grant;
      const owner: Record<string, string> =
        place === 'Authorization'
          ? { authorization: `Bearer ${token}`, 'x-terminal-key': OWNER_KEY }
          : { authorization: `Bearer ${OWNER_KEY}` };
      const headers = { ...owner, ...(place === 'x-share' ? { 'x-share': token } : {}) };
      const path = place === '?share=' ? `/api/dispatch?share=${token}` : '/api/dispatch';
      const answer = await send('POST', path, headers, { key: 'NOW', ...(place === 'body' ? { share: token } : {}) });
      expect(answer.status).toBe(403);
      expect(JSON.parse(answer.text)).toMatchObject({ error: 'scope_mismatch' });
    },
  );

  it('of no grant is not made good by the owner key', async () => {
    const share = `sh.${'A'.repeat(43)}`;
    const headers = { authorization: `Bearer ${OWNER_KEY}` };
    expect((await send('POST', '/api/dispatch', headers, { key: 'NOW', share })).status).toBe(401);
    expect((await send('POST', `/api/dispatch?share=${share}`, headers, { key: 'NOW' })).status).toBe(401);
    expect((await send('GET', `/api/dispatch?key=NOW&share=${share}`, headers)).status).toBe(401);
  });
});

describe('the owner key', () => {
  it('never runs a row by a link', async () => {
    const before = await receiptCount();
    const key = OWNER_KEY;
    for (const headers of [{ authorization: `Bearer ${key}` }, { 'x-terminal-key': key }, { 'x-share': key }, {}]) {
      for (const share of ['', `&share=${key}`]) {
        const answer = await send('GET', `/api/dispatch?invoke=ECHO&body=a${share}`, headers);
        expect(answer.status, JSON.stringify([headers, share])).toBe(401);
      }
    }
    expect(await receiptCount()).toBe(before);
  });

  it('is no token in an address, and says nothing there', async () => {
    for (const query of ['key=NOW', 'ask=time', 'map=1', 'registry=1', 'explain=1', `receipt=inv_${'0'.repeat(32)}`]) {
      expect((await send('GET', `/api/dispatch?${query}&share=${OWNER_KEY}`, {})).status).toBe(401);
    }
    expect((await send('GET', `/api/grants?share=${OWNER_KEY}`, {})).status).toBe(401);
    expect((await send('GET', `/api/directory?share=${OWNER_KEY}`, {})).status).toBeGreaterThanOrEqual(400);
  });
});

describe('a grant that has ended', () => {
  it('shows nothing', async () => {
    const ended = await mintGrant(api, { scope: 'read' });
    await revokeGrant(api, ended);
    for (const path of [
      '/api/dispatch',
      '/api/dispatch?key=NOW',
      '/api/dispatch?ask=time',
      '/api/dispatch?map=1',
      '/api/dispatch?registry=1',
      '/api/dispatch?explain=1',
      `/api/dispatch?receipt=inv_${'0'.repeat(32)}`,
      '/api/grants',
      `/api/grants/${ended.fingerprint}`,
      '/api/directory',
      '/api/directory/NOW',
      '/api/directory/NOW/versions',
      '/api/directory/counts',
      '/api/directory:export',
      '/api/approvals',
    ]) {
      const answer = await send('GET', path, { 'x-share': ended.token });
      expect([path, answer.status, JSON.parse(answer.text).error]).toEqual([path, 403, 'revoked']);
    }
  });
});
