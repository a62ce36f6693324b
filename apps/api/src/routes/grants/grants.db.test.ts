import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { buildClient } from '../../testing/client.js';
import { deriveGrant, expireGrant, mintGrant, revokeGrant, type TestGrant } from '../../testing/grants.js';
import { buildHaystack, dumpTables } from '../../testing/secret-search.js';
import { startTestApi, type TestApi } from '../../testing/test-api.js';

let api: TestApi;
let other: TestApi;
beforeAll(async () => {
  api = await startTestApi({ logLevel: 'trace' });
  other = await startTestApi({ databaseUrl: api.databaseUrl });
});
afterAll(async () => {
  await other.close();
  await api.close();
});

const BASE = { scope: { keys: ['NOW'] }, ttl_seconds: 60, max_uses: 1, purpose: 'p' };

describe('a mint', () => {
  it('answers the token, what it may do, and links that work', async () => {
    const answer = await api.owner.post('/api/grants', BASE, { 'x-reason': 'a try' });
    expect(answer.status).toBe(201);
    expect(answer.headers['cache-control']).toBe('no-store');
    const minted = answer.json<{ token: string; fingerprint: string; invoke_url: string; explain_url: string }>();
    expect(minted).toMatchObject({
      token: expect.stringMatching(/^sh\.[A-Za-z0-9_-]{43}$/),
      fingerprint: expect.stringMatching(/^cap_[0-9a-f]{32}$/),
      parent: null,
      depth: 0,
      effects: ['read'],
      risk_ceiling: 'low',
      pins: { NOW: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
    const toPath = (url: string) => url.replace(/^http:\/\/[^/]+/, '');
    expect((await api.anyone.get(toPath(minted.explain_url))).json()).toMatchObject({
      fingerprint: minted.fingerprint,
      state: 'active',
      uses_left: 1,
      covers: { count: 1, keys: ['NOW'] },
    });
    expect((await api.anyone.get(toPath(minted.invoke_url))).json()).toMatchObject({ ok: true, ran: true });
    expect((await api.anyone.get(toPath(minted.explain_url))).json()).toMatchObject({
      state: 'exhausted',
      uses_left: 0,
    });
    const { rows } = await api.context.store.pool.query(
      `select kind, actor, reason from event where detail ->> 'grant' = $1 order by id`,
      [minted.fingerprint],
    );
    expect(rows).toEqual([
      { kind: 'GRANT_MINT', actor: 'owner', reason: 'a try' },
      ...[0, 1].map(() => ({ kind: 'GRANT_EXPLAIN', actor: minted.fingerprint.replace('_', ':'), reason: null })),
    ]);
  });

  it('makes a link that runs, whatever the grant fixes', async () => {
    const { answer } = await mintGrant(api, { scope: { keys: ['ECHO'] }, fixed_body: 'fixed & so', audience: 'mail' });
    const path = String(answer.invoke_url).replace(/^http:\/\/[^/]+/, '');
    expect((await api.anyone.get(path)).json()).toMatchObject({ ok: true, result: 'fixed & so' });
    expect((await mintGrant(api, { scope: { keys: ['ECHO', 'NOW'] } })).answer).not.toHaveProperty('invoke_url');
    expect((await mintGrant(api, { scope: { prefixes: ['E'], keys: ['ECHO'] } })).answer).not.toHaveProperty(
      'invoke_url',
    );
  });

  it.each([
    ['a time to live of 59 s', { ttl_seconds: 59 }],
    ['one of more than 90 days', { ttl_seconds: 90 * 86_400 + 1 }],
    ['no purpose', { purpose: undefined }],
    ['no count of uses', { max_uses: undefined }],
    ['an empty scope', { scope: {} }],
    ['empty lists', { scope: { keys: [], prefixes: [], categories: [] } }],
    ['another word as its scope', { scope: 'write' }],
    ['an unknown effect', { effects: ['delete'] }],
    ['an effect of a read grant', { scope: 'read', effects: ['write'] }],
    ['pins without keys', { scope: 'act', pin: true }],
    ['a negative budget', { budget_usd: -1 }],
    ['part of a use', { max_uses: 1.5 }],
    ['a number as text', { max_uses: '1' }],
  ])('is refused with %s', async (_name, more) => {
    const answer = await api.owner.post('/api/grants', { ...BASE, ...more });
    expect(answer.status).toBe(400);
    expect(answer.json()).toMatchObject({ error: 'invalid_args' });
  });

  it('names the keys that no row has', async () => {
    const answer = await api.owner.post('/api/grants', { ...BASE, scope: { keys: ['NOW', 'NO_SUCH', 'NOR_THIS'] } });
    expect(answer.status).toBe(404);
    expect(answer.json()).toMatchObject({ error: 'unknown_key', unknown_keys: ['NO_SUCH', 'NOR_THIS'] });
  });

  it('is for the owner alone', async () => {
    const { holder } = await mintGrant(api, { scope: 'act', effects: ['read', 'write', 'destructive'] });
    expect((await holder.post('/api/grants', BASE)).json()).toMatchObject({ status: 403, error: 'owner_required' });
    expect((await api.anyone.post('/api/grants', BASE)).status).toBe(401);
    expect((await api.anyone.post('/api/grants/attenuate', {})).status).toBe(401);
    expect((await api.owner.post('/api/grants/attenuate', {})).status).toBe(400);
  });
});

describe('a derivation', () => {
  const WIDE = {
    scope: 'act',
    effects: ['read', 'write', 'destructive'],
    max_uses: 0,
    risk_ceiling: 'high',
    owner_gate: false,
    max_body_bytes: 1_000_000,
    rate_per_minute: 1_000,
    budget_usd: 1_000,
  };

  it('is refused where it is wider, with every member that is named', async () => {
    const parent = await mintGrant(api, {
      scope: { keys: ['NOW'] },
      max_uses: 5,
      audience: 'mail',
      owner_gate: true,
      fixed_body: 'x',
      max_body_bytes: 10,
      rate_per_minute: 10,
      budget_usd: 1,
    });
    const answer = await parent.holder.post('/api/grants/attenuate', {
      ...WIDE,
      audience: 'other',
      fixed_body: 'y',
      pin: false,
    });
    expect(answer.status).toBe(403);
    expect(answer.json()).toMatchObject({
      error: 'grant_wider',
      wider: [
        'scope',
        'effects',
        'max_uses',
        'audience',
        'risk_ceiling',
        'owner_gate',
        'fixed_body',
        'max_body_bytes',
        'rate_per_minute',
        'budget_usd',
        'pin',
      ],
    });
  });

  it('outlasts its parent never, however long it was asked to', async () => {
    const parent = await mintGrant(api, { scope: { keys: ['NOW'] }, ttl_seconds: 120 });
    const child = await deriveGrant(api, parent, { ttl_seconds: 86_400 });
    expect(child.answer.expires_at).toBe(parent.answer.expires_at);
    expect(child.answer).toMatchObject({ parent: parent.fingerprint, depth: 1 });
  });

  it('goes five deep, and no deeper', async () => {
    let grant = await mintGrant(api, { scope: { keys: ['NOW'] } });
    for (let depth = 1; depth <= 5; depth += 1) {
      grant = await deriveGrant(api, grant);
      expect(grant.answer.depth).toBe(depth);
    }
    expect((await grant.holder.invoke({ key: 'NOW' })).status).toBe(200);
    const answer = await grant.holder.post('/api/grants/attenuate', {});
    expect([answer.status, answer.json<{ error: string }>().error]).toEqual([403, 'grant_too_deep']);
  });

  it('from a grant that has ended is refused', async () => {
    const [revoked, expired] = [await mintGrant(api, { scope: 'act' }), await mintGrant(api, { scope: 'act' })];
    await revokeGrant(api, revoked);
    await expireGrant(api, expired);
    for (const [grant, error] of [
      [revoked, 'revoked'],
      [expired, 'expired'],
    ] as const) {
      const answer = await grant.holder.post('/api/grants/attenuate', {});
      expect([answer.status, answer.json<{ error: string }>().error]).toEqual([403, error]);
    }
  });

  it('tells nothing of keys that the parent does not cover', async () => {
    const parent = await mintGrant(api, { scope: { keys: ['NOW'] } });
    const texts = await Promise.all(
      ['ECHO', 'NO_SUCH'].map(async (key) => {
        const answer = await parent.holder.post('/api/grants/attenuate', { scope: { keys: [key] } });
        return answer.text.replaceAll(key, 'KEY');
      }),
    );
    expect(texts[0]).toBe(texts[1]);
    expect(texts[0]).toContain('grant_wider');
  });
});

describe('an explanation', () => {
  it('says of each row what the gate then does', async () => {
    const calls: readonly { key: string; body?: string; args?: object }[] = [
      { key: 'NOW' },
      { key: 'ECHO' },
      { key: 'HASH', body: 'a' },
      { key: 'CAP_REVOKE', body: 'a' },
      { key: 'OIP_REPLAY', body: 'a' },
      { key: 'DIR_ADD', args: { key: 'TEST_MORE', type: 'fn' } },
      { key: 'TEST_PRICED' },
      { key: 'TEST_OFF' },
    ];
    const add = (key: string, more: object) =>
      api.owner.post('/api/directory', {
        key,
        type: 'fn',
        target: 'ECHO',
        content: '# WHAT: Echo.',
        examples: ['a'],
        ...more,
      });
    await add('TEST_PRICED', { limits: { cost_usd: 0.6 } });
    await add('TEST_OFF', { enabled: false });
    const all = { scope: 'act', effects: ['read', 'write', 'destructive'], risk_ceiling: 'high' };
    const terms = [
      all,
      { scope: 'read' },
      { scope: 'act' },
      { ...all, risk_ceiling: 'low' },
      { ...all, budget_usd: 1, spent: 0.5 },
      { ...all, budget_usd: 1, spent: 1 },
      { ...all, max_uses: 3, used: 3 },
      { ...all, scope: { prefixes: ['TEST_', 'OIP_'] } },
      { scope: { categories: ['text', 'authority'] } },
      { scope: { keys: ['NOW', 'ECHO'] }, audience: 'mail' },
    ];
    for (const { spent = 0, used = 0, ...more } of terms as { spent?: number; used?: number }[]) {
      const grant = await mintGrant(api, more);
      await api.context.store.pool.query(
        'update capability_grant set uses = $1, spent_usd = $2 where fingerprint = $3',
        [used, spent, grant.fingerprint],
      );
      const explained = await grant.holder.get('/api/dispatch?explain=1');
      const { covers, audience } = explained.json<{ covers: { keys: string[] }; audience: string | null }>();
      for (const call of calls) {
        const headers = audience === null ? {} : { 'x-audience': audience };
        const answer = await grant.holder.invoke({ ...call, shape: true }, headers);
        const isExplained = covers.keys.includes(call.key);
        expect([more, call.key, answer.status === 200, answer.text]).toEqual([
          more,
          call.key,
          isExplained,
          answer.text,
        ]);
      }
    }
  });

  it('is for the owner, the holder, and the holders above, and for nobody else', async () => {
    const root = await mintGrant(api, { scope: 'act' });
    const child = await deriveGrant(api, root);
    const stranger = await mintGrant(api, { scope: 'read' });
    const read = async (client: TestGrant['holder'], { fingerprint }: TestGrant) =>
      [`/api/grants/${fingerprint}`, `/api/dispatch?explain=${fingerprint}`].map((url) => client.get(url));
    for (const [client, grant, status] of [
      [api.owner, child, 200],
      [root.holder, child, 200],
      [child.holder, child, 200],
      [child.holder, root, 404],
      [stranger.holder, root, 404],
      [api.anyone, root, 401],
    ] as const) {
      for (const answer of await Promise.all(await read(client, grant))) {
        expect(answer.status).toBe(status);
        expect(answer.text).not.toContain(grant.token);
        expect(answer.text).not.toContain('sh.');
      }
    }
  });

  it('shares with its parent what is left', async () => {
    const root = await mintGrant(api, { scope: { keys: ['NOW'] }, max_uses: 3 });
    const child = await deriveGrant(api, root, { max_uses: 2 });
    await root.holder.invoke({ key: 'NOW' });
    await root.holder.invoke({ key: 'NOW' });
    expect((await child.holder.get('/api/dispatch?explain=1')).json()).toMatchObject({ uses_left: 1, max_uses: 2 });
  });
});

describe('a list', () => {
  it('shows the owner all grants, page by page, newest first, each with its state', async () => {
    const made = [];
    for (let turn = 0; turn < 3; turn += 1) made.push(await mintGrant(api, { scope: 'act', purpose: `list ${turn}` }));
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page = await api.owner.get(`/api/grants?limit=2${cursor === null ? '' : `&cursor=${cursor}`}`);
      const body: { grants: { fingerprint: string }[]; next_cursor: string | null } = page.json();
      seen.push(...body.grants.map(({ fingerprint }) => fingerprint));
      expect(page.text).not.toContain('sh.');
      cursor = body.next_cursor;
    } while (cursor !== null);
    expect(seen.slice(0, 3)).toEqual(made.map(({ fingerprint }) => fingerprint).reverse());
    const { rows } = await api.context.store.pool.query('select count(*)::int as count from capability_grant');
    expect(new Set(seen).size).toBe(rows[0].count);
    expect(seen).toHaveLength(rows[0].count);
  });

  it('shows a holder its own grant and what derives from it, whose states are those of their parents too', async () => {
    const root = await mintGrant(api, { scope: 'act' });
    const child = await deriveGrant(api, root);
    const grandchild = await deriveGrant(api, child);
    const list = async (client: TestGrant['holder']) =>
      (await client.get('/api/grants'))
        .json<{ grants: { fingerprint: string; state: string }[] }>()
        .grants.map(({ fingerprint, state }) => [fingerprint, state]);
    expect(await list(child.holder)).toEqual([grandchild, child].map(({ fingerprint }) => [fingerprint, 'active']));
    await revokeGrant(api, child);
    expect(await list(root.holder)).toEqual([
      [grandchild.fingerprint, 'revoked'],
      [child.fingerprint, 'revoked'],
      [root.fingerprint, 'active'],
    ]);
  });
});

describe('a revocation', () => {
  it('holds at once where it was asked for, and in every other process as soon as it is notified', async () => {
    const grant = await mintGrant(api, { scope: { keys: ['NOW'] } });
    const child = await deriveGrant(api, grant);
    const elsewhere = [grant, child].map(({ token }) => buildClient(other.app, { 'x-share': token }));
    for (const client of elsewhere) expect((await client.invoke({ key: 'NOW' })).status).toBe(200);
    const notified = new Promise((resolve) => {
      const { grantBook } = other.context;
      const forget = grantBook.forget.bind(grantBook);
      vi.spyOn(grantBook, 'forget').mockImplementation((fingerprint) => {
        forget(fingerprint);
        resolve(fingerprint);
      });
    });
    const answer = await api.owner.post(`/api/grants/${grant.fingerprint}/revoke`, {});
    expect(answer.status).toBe(200);
    expect((await grant.holder.invoke({ key: 'NOW' })).json()).toMatchObject({ error: 'revoked' });
    expect(await notified).toBe(grant.fingerprint);
    for (const client of elsewhere) {
      expect((await client.invoke({ key: 'NOW' })).json()).toMatchObject({ error: 'revoked' });
      expect((await client.get('/api/dispatch?key=NOW')).json()).toMatchObject({ error: 'revoked' });
    }
    vi.restoreAllMocks();
  });

  it('of a grant with a limit holds in every process, whether it was notified or not', async () => {
    const grant = await mintGrant(api, { scope: { keys: ['NOW'] }, max_uses: 10 });
    const client = buildClient(other.app, { 'x-share': grant.token });
    expect((await client.invoke({ key: 'NOW' })).status).toBe(200);
    const { grantBook } = other.context;
    vi.spyOn(grantBook, 'forget').mockImplementation(() => undefined);
    await revokeGrant(api, grant);
    expect((await client.invoke({ key: 'NOW' })).json()).toMatchObject({ error: 'revoked' });
    vi.restoreAllMocks();
  });

  it('says the same time whoever asks again, and leaves one event', async () => {
    const grant = await mintGrant(api, { scope: { keys: ['NOW'] } });
    const answers = await Promise.all(
      [api, other, api, other].map(({ owner }) => owner.post(`/api/grants/${grant.fingerprint}/revoke`, {})),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    const { rows } = await api.context.store.pool.query(
      `select count(*)::int as count from event where kind = 'GRANT_REVOKE' and detail ->> 'grant' = $1`,
      [grant.fingerprint],
    );
    expect(rows).toEqual([{ count: 1 }]);
  });

  it('waits for one that is under way, and is told of it', async () => {
    const grant = await mintGrant(api, { scope: { keys: ['NOW'] } });
    const client = await api.context.store.pool.connect();
    await client.query('begin');
    await client.query(`update capability_grant set revoked_at = '2026-01-02T03:04:05Z' where fingerprint = $1`, [
      grant.fingerprint,
    ]);
    const waiting = api.owner.post(`/api/grants/${grant.fingerprint}/revoke`, {});
    await vi.waitFor(async () => {
      const { rows } = await api.context.store.pool.query(
        `select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      expect(rows[0].count).toBeGreaterThan(0);
    });
    await client.query('commit');
    client.release();
    expect((await waiting).json()).toMatchObject({ revoked_at: '2026-01-02T03:04:05.000Z' });
  });

  it('is for the owner, the holder, and the holders above', async () => {
    const root = await mintGrant(api, { scope: 'act' });
    const child = await deriveGrant(api, root);
    const stranger = await mintGrant(api, { scope: 'act' });
    const revoke = async (client: TestGrant['holder'], { fingerprint }: TestGrant) =>
      (await client.post(`/api/grants/${fingerprint}/revoke`, {})).status;
    expect(await revoke(child.holder, root)).toBe(404);
    expect(await revoke(stranger.holder, child)).toBe(404);
    expect(await revoke(api.anyone, child)).toBe(401);
    expect(await revoke(root.holder, child)).toBe(200);
    expect(await revoke(root.holder, root)).toBe(200);
  });

  it('of what is no grant is refused', async () => {
    expect((await api.owner.post(`/api/grants/cap_${'0'.repeat(32)}/revoke`, {})).status).toBe(404);
    expect((await api.owner.post('/api/grants/cap_1/revoke', {})).status).toBe(400);
  });
});

describe('the rows CAP_MINT, CAP_EXPLAIN and CAP_REVOKE', () => {
  it('do for the owner and for holders what the addresses do', async () => {
    const minted = await api.owner.invoke({ key: 'CAP_MINT', args: { ...BASE, scope: 'act', max_uses: 5 } });
    expect(minted.status, minted.text).toBe(200);
    const { result } = minted.json<{ result: { token: string; fingerprint: string } }>();
    const root = { ...result, holder: buildClient(api.app, { 'x-share': result.token }) };
    expect((await root.holder.invoke({ key: 'NOW' })).status).toBe(200);
    const explained = await root.holder.invoke({ key: 'CAP_EXPLAIN', body: root.token });
    expect(explained.json()).toMatchObject({ result: { fingerprint: root.fingerprint, uses_left: 3 } });

    const writer = await mintGrant(api, {
      scope: { keys: ['NOW', 'CAP_MINT', 'CAP_REVOKE'] },
      effects: ['read', 'write', 'destructive'],
      risk_ceiling: 'high',
    });
    const wider = await writer.holder.invoke({ key: 'CAP_MINT', args: { scope: 'act' } });
    expect(wider.json()).toMatchObject({ error: 'grant_wider', wider: ['scope'] });
    const derived = await writer.holder.invoke({ key: 'CAP_MINT', args: { scope: { keys: ['NOW'] } } });
    expect(derived.json()).toMatchObject({ result: { parent: writer.fingerprint, depth: 1 } });
    const child = derived.json<{ result: { fingerprint: string } }>().result.fingerprint;
    const stranger = await writer.holder.invoke({ key: 'CAP_REVOKE', body: root.fingerprint });
    expect(stranger.json()).toMatchObject({ error: 'unknown_grant' });
    const revoked = await writer.holder.invoke({ key: 'CAP_REVOKE', body: `${child}|no longer needed` });
    expect(revoked.json()).toMatchObject({ ok: true, result: { fingerprint: child } });
  });
});

describe('a token', () => {
  it('is shown once, and is in no table, log, receipt or event, in no form', async () => {
    const tokens: string[] = [];
    const shown: string[] = [];
    const keep = (text: string) => shown.push(text);
    const take = (text: string): string => {
      const token = /sh\.[A-Za-z0-9_-]{43}/.exec(text)?.[0] ?? '';
      expect(token).not.toBe('');
      tokens.push(token);
      return token;
    };
    const root = take((await api.owner.post('/api/grants', { ...BASE, scope: 'act', max_uses: 0 })).text);
    const headers = { 'x-share': root };
    take((await api.anyone.post('/api/grants/attenuate', {}, headers)).text);
    const once = { 'idempotency-key': 'mint-once' };
    const mint = { key: 'CAP_MINT', args: { ...BASE, scope: 'act' }, reason: 'kept' };
    const first = await api.owner.invoke(mint, once);
    const byRow = take(first.text);
    expect((await api.owner.invoke(mint, once)).text).toBe(first.text);
    const { proof } = first.json<{ proof: { invocation_id: string } }>();
    keep((await api.owner.get(`/api/dispatch?receipt=${proof.invocation_id}`)).text);
    keep((await api.owner.invoke({ key: 'OIP_RECEIPT', body: proof.invocation_id })).text);
    keep((await api.owner.invoke({ replay: proof.invocation_id, confirm: true, shape: true })).text);
    for (const token of [root, byRow]) {
      keep((await api.owner.invoke({ key: 'CAP_EXPLAIN', body: token })).text);
      keep((await api.owner.invoke({ key: 'CAP_EXPLAIN', args: { grant: token } })).text);
      keep((await api.owner.invoke({ key: token, body: 'a' })).text.replaceAll(token, ''));
      await api.owner.invoke({ key: 'ECHO', body: `look: ${token}`, reason: token, on_behalf_of: token });
      await api.anyone.get(`/api/dispatch?invoke=ECHO&body=a&share=${token}`);
      await api.anyone.get(`/api/dispatch?invoke=NO_SUCH&body=a&share=${token}`);
      await api.anyone.get(`/api/dispatch?ask=time&share=${token}&nonsense=1`);
      await api.owner.invoke({ key: 'NOW', body: 'a', share: token });
      await api.owner.invoke({ key: 'NOW', share: `${token}x` });
      keep((await api.anyone.get(`/api/dispatch?explain=1&share=${token}`)).text);
      keep((await api.anyone.get('/api/grants', { 'x-share': token })).text);
      await api.owner.post('/api/grants', { ...BASE, purpose: `for ${token}`, actor: token }, { 'x-reason': token });
      await api.owner.post(`/api/grants/${'cap_'}${'0'.repeat(32)}/revoke`, {}, { 'x-reason': token });
      keep((await api.owner.invoke({ key: 'CAP_REVOKE', body: `${token}|because ${token}` })).text);
    }
    await api.owner.post('/api/grants', BASE, { authorization: 'Bearer no' });
    const places = {
      answers: buildHaystack(shown.join('\n')),
      log: buildHaystack(api.log.join('')),
      tables: buildHaystack(await dumpTables(api.context.store)),
    };
    for (const [place, haystack] of Object.entries(places)) {
      for (const token of tokens) {
        expect([place, haystack.findForms(token)]).toEqual([place, []]);
        expect([place, haystack.findForms(token.slice(3))]).toEqual([place, []]);
      }
    }
    expect(places.tables.findForms('mint-once')).toEqual([]);
  });
});
