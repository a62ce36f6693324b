import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../testing/test-api.js';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  const rows = [
    { key: 'GREET', type: 'fn', target: 'ECHO', input_schema: NAME_SCHEMA, examples: ['Ada'], content: GREET_CONTENT },
    {
      key: 'WRAPPED',
      type: 'fn',
      target: 'ECHO',
      input_schema: ARGS_SCHEMA,
      content: WRAPPED_CONTENT,
      examples: ['{}'],
    },
    { key: 'ASLEEP', type: 'fn', target: 'ECHO', content: '# WHAT: Sleeps.', examples: ['a'], enabled: false },
    {
      key: 'CREDIT',
      type: 'http',
      target: 'GET http://127.0.0.1:9/',
      auth: 'bearer:NOT_SET',
      content: '# WHAT: Pays.',
    },
    { key: 'THINK', type: 'agent', target: 'some-model', content: '# WHAT: Thinks.\nThink.', examples: ['a'] },
  ];
  for (const row of rows) expect(await api.owner.post('/api/directory', row)).toMatchObject({ status: 201 });
});
afterAll(() => api.close());

const GREET_CONTENT = '# WHAT: Greets.\n["$name"]';
const NAME_SCHEMA = { type: 'object', properties: { name: { type: 'string', minLength: 2 } }, required: ['name'] };
const WRAPPED_CONTENT = '# WHAT: Has an argument called args.\n[$args]';
const ARGS_SCHEMA = { type: 'object', properties: { args: { type: 'object' } }, required: ['args'] };

interface Refused {
  readonly receipt: string;
}

const countReceipts = async (): Promise<number> => {
  const { rows } = await api.context.store.pool.query('select count(*)::int as receipts from receipt');
  return rows[0].receipts;
};

describe('an attempt that is refused', () => {
  it.each([
    ['of a key that no row has', { key: 'NWO' }, 404, 'unknown_key'],
    ['of a disabled row', { key: 'ASLEEP', body: 'a' }, 409, 'capability_disabled'],
    ['with arguments that do not fit', { key: 'GREET', args: { name: 'A' } }, 400, 'invalid_args'],
    ['of a row whose credential is not set', { key: 'CREDIT', body: '' }, 424, 'credential_missing:NOT_SET'],
    ['of a type that cannot run here', { key: 'THINK', body: 'a' }, 501, 'type_unavailable'],
  ])('%s leaves a receipt that anyone can confirm', async (_what, body, status, error) => {
    const answer = await api.owner.invoke(body);
    expect(answer.status).toBe(status);
    expect(answer.json()).toMatchObject({ status, error, receipt: expect.stringMatching(/^inv_[0-9a-f]{32}$/) });
    const confirmation = await api.anyone.get(`/api/dispatch?confirm=${answer.json<Refused>().receipt}`);
    expect(confirmation.json()).toMatchObject({
      confirmed: true,
      key: body.key,
      outcome: 'denied',
      status: 'PROVEN_ATTEMPT_NO_MATERIAL_RESULT',
      material: false,
      error,
      fingerprints: { output: null },
    });
  });

  it('for a misspelt key names the keys that were probably meant', async () => {
    const answer = await api.owner.invoke({ key: 'WEATHER_NWO' });
    expect(answer.json()).toMatchObject({ did_you_mean: expect.arrayContaining(['WEATHER_NOW']) });
  });

  it('for arguments that do not fit points at them and shows a call that works', async () => {
    const answer = await api.owner.invoke({ key: 'GREET', args: { name: 'A' } });
    expect(answer.json()).toMatchObject({
      errors: [{ pointer: '/name', rule: 'minLength' }],
      example: { key: 'GREET', args: { name: expect.any(String) } },
    });
  });

  it('because the contract changed names the pinned and the current fingerprint', async () => {
    const { fingerprint } = (await api.anyone.get('/api/dispatch?key=ECHO')).json<{ fingerprint: string }>();
    const pinned = 'a'.repeat(64);
    const answer = await api.owner.invoke({ key: 'ECHO', body: 'a', expect_contract: pinned });
    expect(answer.status).toBe(409);
    expect(answer.json()).toMatchObject({
      type: '/errors/contract_changed',
      error: `contract_changed:${pinned}!=${fingerprint}`,
    });
    const { receipt } = answer.json<Refused>();
    expect((await api.anyone.get(`/api/dispatch?confirm=${receipt}`)).json()).toMatchObject({ outcome: 'denied' });
  });

  it('does not concern a caller who expects the contract as it is', async () => {
    const { fingerprint } = (await api.anyone.get('/api/dispatch?key=ECHO')).json<{ fingerprint: string }>();
    expect(await api.owner.invoke({ key: 'ECHO', body: 'a', expect_contract: fingerprint })).toMatchObject({
      status: 200,
    });
  });
});

describe('a body', () => {
  const FORBIDDEN = [
    'actor',
    'trace',
    'parent',
    'step',
    'cost',
    'cost_usd',
    'id',
    'invocation_id',
    'started_at',
    'finished_at',
    'status',
    'outcome',
    'receipt',
    'proof',
    'lane',
    'effect',
    'traceparent',
    'result',
    'replay_of',
    'grant',
    'chain',
    'approved',
    'tokens_in',
    'material',
    'input_hash',
    'row_version',
  ];

  it.each(FORBIDDEN)('cannot set %s: the field is refused and nothing runs', async (field) => {
    const before = await countReceipts();
    const answer = await api.owner.invoke({ key: 'ECHO', body: 'a', [field]: 'owner' });
    expect(answer.status).toBe(400);
    expect(answer.json()).toMatchObject({ error: 'unrecognized_request', detail: expect.stringContaining(field) });
    expect(await countReceipts()).toBe(before);
  });

  it.each([
    ['both body and args', { key: 'ECHO', body: 'a', args: { text: 'a' } }, 'not both'],
    ['no key', { body: 'a' }, 'key'],
    ['a number as its key', { key: 7 }, 'key'],
    ['an empty key', { key: '' }, 'key'],
    ['a number as its body', { key: 'ECHO', body: 7 }, 'body'],
    ['an array as args', { key: 'ECHO', args: ['a'] }, 'args'],
    ['a mode that is none', { key: 'ECHO', mode: 'later' }, 'mode'],
    ['a fingerprint that is none', { key: 'ECHO', expect_contract: 'abc' }, 'expect_contract'],
  ])('with %s is refused by name', async (_what, body, named) => {
    const answer = await api.owner.invoke(body);
    expect(answer.status).toBe(400);
    expect(answer.json()).toMatchObject({ error: 'unrecognized_request', detail: expect.stringContaining(named) });
  });

  it.each([['null'], ['[]'], ['"NOW"'], ['7']])('that is %s and no object is refused', async (body) => {
    expect(await api.owner.send('POST', '/api/dispatch', { body })).toMatchObject({ status: 400 });
  });

  it('without arguments means an empty one', async () => {
    const answer = await api.owner.invoke({ key: 'ECHO' });
    expect(answer.status).toBe(200);
    expect(answer.json()).toMatchObject({ result: '' });
  });

  it.each([
    ['a pipe', 'a|b||c'],
    ['quotes and breaks', 'a"b\\c\nd\re\tf'],
    ['other scripts', 'blåbær 日本語 😀'],
    ['a NUL', 'a\0b'],
    ['half a surrogate pair', 'a\ud800b'],
    ['what looks like a template', '$1 $PREV \\$ {owner}'],
  ])('with %s arrives whole', async (_what, body) => {
    const answer = await api.owner.invoke({ key: 'ECHO', body });
    expect(answer.status).toBe(200);
    expect(answer.json()).toMatchObject({ result: body });
  });

  it('that holds one JSON document is one argument', async () => {
    const body = '{"a":"x|y"}';
    expect((await api.owner.invoke({ key: 'ECHO', body })).json()).toMatchObject({ result: body });
  });
});

describe('a call in the shape of another protocol', () => {
  it.each([
    ['arguments', { key: 'GREET', arguments: { name: 'Ada' } }],
    ['arguments twice', { key: 'GREET', arguments: { arguments: { name: 'Ada' } } }],
    ['args twice', { key: 'GREET', args: { args: { name: 'Ada' } } }],
    ['a tool call', { name: 'GREET', arguments: { name: 'Ada' } }],
    ['arguments as text', { key: 'GREET', arguments: '{"name":"Ada"}' }],
    ['args as text', { key: 'GREET', args: '{"name":"Ada"}' }],
    ['an object as body', { key: 'GREET', body: { name: 'Ada' } }],
    ['input', { key: 'GREET', input: { name: 'Ada' }, reason: 'a greeting' }],
  ])('(%s) is answered with the call that works', async (_what, body) => {
    const answer = await api.owner.invoke(body);
    expect(answer.status).toBe(400);
    const { send } = answer.json<{ send: object }>();
    expect(send).toMatchObject({ key: 'GREET', args: { name: 'Ada' } });
    expect(await api.owner.invoke(send)).toMatchObject({ status: 200 });
  });

  it('(a text as input) is answered with the call that works', async () => {
    const answer = await api.owner.invoke({ name: 'ECHO', input: 'hello' });
    expect(answer.json()).toMatchObject({ send: { key: 'ECHO', body: 'hello' } });
  });

  it('keeps what stood beside the arguments', async () => {
    const answer = await api.owner.invoke({
      key: 'GREET',
      input: { name: 'Ada' },
      reason: 'a greeting',
      mode: 'async',
    });
    expect(answer.json()).toMatchObject({ send: { reason: 'a greeting', mode: 'async' } });
  });

  it('is no such thing where the row has an argument of that name', async () => {
    const answer = await api.owner.invoke({ key: 'WRAPPED', args: { args: { a: 1 } } });
    expect(answer.status).toBe(200);
    expect(answer.json()).toMatchObject({ result: { a: 1 } });
  });

  it('is not guessed at when two places hold arguments', async () => {
    const answer = await api.owner.invoke({ key: 'GREET', input: { name: 'Ada' }, params: { name: 'Bo' } });
    expect(answer.status).toBe(400);
    expect(answer.json()).not.toHaveProperty('send');
  });
});

describe('what comes in headers', () => {
  const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const readTraceparent = async (headers: Record<string, string>): Promise<string | null> => {
    const answer = await api.owner.invoke({ key: 'ECHO', body: 'a' }, headers);
    const id = answer.json<{ proof: { invocation_id: string } }>().proof.invocation_id;
    const receipt = await api.owner.get(`/api/dispatch?receipt=${id}`);
    return receipt.json<{ receipt: { traceparent: string | null } }>().receipt.traceparent;
  };

  it('ends on the receipt when it is a W3C trace context', async () => {
    expect(await readTraceparent({ traceparent: TRACEPARENT })).toBe(TRACEPARENT);
  });

  it.each([
    ['garbage', 'garbage'],
    ['an unknown form', `${TRACEPARENT}-more`],
    ['upper case', TRACEPARENT.toUpperCase()],
    ['version ff', TRACEPARENT.replace('00-', 'ff-')],
    ['a trace of zeros', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`],
    ['a parent of zeros', `00-4bf92f3577b34da6a3ce929d0e0e4736-${'0'.repeat(16)}-01`],
    ['an injection', "'; drop table receipt; --"],
  ])('is ignored as a trace context when it is %s', async (_what, traceparent) => {
    expect(await readTraceparent({ traceparent })).toBeNull();
  });

  it('never decides who calls', async () => {
    const headers = {
      'x-actor': 'cap:1',
      'x-forwarded-for': '1.2.3.4',
      'x-forwarded-user': 'root',
      forwarded: 'for=a',
    };
    const answer = await api.owner.invoke({ key: 'ECHO', body: 'a' }, headers);
    const { proof } = answer.json<{ proof: { invocation_id: string } }>();
    const confirmation = await api.anyone.get(`/api/dispatch?confirm=${proof.invocation_id}`);
    expect(confirmation.json()).toMatchObject({ actor: 'owner' });
  });
});

describe('a receipt', () => {
  it('keeps for whom and why a call was made', async () => {
    const answer = await api.owner.invoke({ key: 'ECHO', body: 'a', on_behalf_of: 'Ada', reason: 'a try' });
    const { proof } = answer.json<{ proof: { invocation_id: string } }>();
    const receipt = await api.owner.get(`/api/dispatch?receipt=${proof.invocation_id}`);
    expect(receipt.json()).toMatchObject({ receipt: { on_behalf_of: 'Ada', reason: 'a try' } });
  });
});
