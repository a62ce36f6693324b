import { INVOCATION_ID_PATTERN, TRACE_ID_PATTERN } from '@rowcall/protocol';
import { type EchoUpstream, startEchoUpstream, startUpstream, type TestUpstream } from '@rowcall/testing';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { defineFunction } from './functions/registry.js';
import { sha256, startTestEngine, type TestEngine } from './testing/engine.js';

const SECRET = 'sup3r-s3cret-value-of-a-token';

const FUNCTIONS = [
  defineFunction({
    name: 'THROW',
    what: 'Has a defect.',
    effect: 'read',
    input: z.unknown(),
    run() {
      throw new TypeError('cannot read properties of undefined');
    },
  }),
  defineFunction({
    name: 'BIGINT',
    what: 'Gives what JSON cannot write.',
    effect: 'read',
    input: z.unknown(),
    run: () => 1n,
  }),
  defineFunction({
    name: 'HANG',
    what: 'Never ends.',
    effect: 'read',
    input: z.unknown(),
    run: () => new Promise(() => undefined),
  }),
  defineFunction({
    name: 'SAY',
    what: 'Gives back the JSON that it is given as text.',
    effect: 'read',
    input: z.tuple([z.string()]),
    run: ([text]) => JSON.parse(text),
  }),
];

describe('the engine', () => {
  let engine: TestEngine;
  let echo: EchoUpstream;
  let upstream: TestUpstream;

  beforeAll(async () => {
    echo = await startEchoUpstream();
    upstream = await startUpstream((request, response) => {
      const [, status = '200'] = (request.url ?? '').split('/');
      if (status === 'hang') return;
      response.writeHead(Number(status), { 'content-type': 'application/json' }).end('{"from":"upstream"}');
    });
    engine = await startTestEngine({
      functions: FUNCTIONS,
      readCredential: (name) => (['TOKEN', 'ROWCALL_OWNER_KEY'].includes(name) ? SECRET : undefined),
    });
    await engine.insert({ key: 'ECHO', content: '# WHAT: Gives back.\n["$1+"]' });
    await engine.insert({ key: 'THROW', target: 'THROW' });
    await engine.insert({ key: 'BIGINT', target: 'BIGINT' });
    await engine.insert({ key: 'HANG', target: 'HANG', limits: { timeout_ms: 20 } });
    await engine.insert({ key: 'SAY', target: 'SAY', content: '# WHAT: Says.\n["$1+"]' });
    await engine.insert({ key: 'DISABLED', enabled: false });
    await engine.insert({ key: 'UPSTREAM', type: 'http', target: `GET ${upstream.url}/$1` });
    await engine.insert({ key: 'SLOW', type: 'http', target: `GET ${upstream.url}/hang`, limits: { timeout_ms: 20 } });
    await engine.insert({ key: 'FLOW', type: 'flow', target: '' });
    await engine.insert({ key: 'AGENT', type: 'agent', target: 'model' });
  });

  afterAll(async () => {
    await engine.stop();
    await Promise.all([echo.close(), upstream.close()]);
  });

  describe('runs a function', () => {
    test('and leaves a receipt of the call that is committed when the answer comes', async () => {
      const { receipt, resultText, upstreamText, error } = await engine.run('ECHO', {
        input: { body: 'a|b 🙂' },
        onBehalfOf: 'somebody',
        reason: 'a test',
      });
      const committed = await engine.read(receipt.id);
      expect(committed.receipt).toEqual(receipt);
      expect(committed.payload).toEqual({
        receipt_id: receipt.id,
        request: '{"body":"a|b 🙂"}',
        request_redacted: false,
        result: '"a|b 🙂"',
        result_redacted: false,
        upstream: null,
      });
      expect({ resultText, upstreamText, error }).toEqual({ resultText: '"a|b 🙂"', upstreamText: null, error: null });
      expect(receipt).toMatchObject({
        id: expect.stringMatching(INVOCATION_ID_PATTERN),
        trace: expect.stringMatching(TRACE_ID_PATTERN),
        key: 'ECHO',
        type: 'fn',
        row_version: 1,
        lane: 'inline',
        actor: 'owner',
        outcome: 'succeeded',
        status: 'PROVEN_MATERIAL_RESULT',
        material: true,
        contract_fingerprint: engine.parts.catalogue.find('ECHO')?.fingerprint,
        on_behalf_of: 'somebody',
        reason: 'a test',
      });
    });

    test('and hashes the very bytes that went in and came out', async () => {
      const body = 'é 🙂 "quoted" \\ \n';
      const { receipt, resultText } = await engine.run('ECHO', { input: { body } });
      expect(receipt.input_hash).toBe(sha256(body));
      expect(receipt.output_hash).toBe(sha256(resultText));
      expect(receipt.output_hash).toBe(sha256(JSON.stringify(body)));
    });

    test('and keeps U+0000 and lone surrogates of a body', async () => {
      const body = 'a\0b\ud800c';
      const { receipt, resultText } = await engine.run('ECHO', { input: { body } });
      const { payload } = await engine.read(receipt.id);
      expect(resultText).toBe('"a\\u0000b\\ud800c"');
      expect(payload.result).toBe(resultText);
      expect(payload.request).toBe('{"body":"a\\u0000b\\ud800c"}');
    });

    test('and hashes named arguments in their canonical form', async () => {
      await engine.insert({ key: 'NAMED', content: '# WHAT: Named.\n["$b"]', input_schema: { type: 'object' } });
      const { receipt } = await engine.run('NAMED', { input: { args: { b: 'x', a: 1.0 } } });
      expect(receipt.input_hash).toBe(sha256('{"a":1,"b":"x"}'));
    });

    test.each([
      ['{"ok":false}', false],
      ['{"error":"no"}', false],
      ['""', false],
      ['[]', false],
      ['0', true],
      ['{"ok":true}', true],
    ])('and judges whether %s is material: %s', async (body, material) => {
      const { receipt } = await engine.run('SAY', { input: { body } });
      expect(receipt).toMatchObject({ outcome: 'succeeded', material });
    });

    test.each([
      ['a defect', 'THROW', 'cannot read properties of undefined'],
      ['a result that JSON cannot write', 'BIGINT', 'Do not know how to serialize a BigInt'],
    ])('and records %s as a failed run', async (_name, key, message) => {
      const { receipt, error, resultText } = await engine.run(key);
      expect(error).toEqual({ reason: 'function_failed', message });
      expect(resultText).toBe('null');
      expect((await engine.read(receipt.id)).receipt).toMatchObject({
        outcome: 'failed',
        error: 'function_failed',
        error_message: message,
        material: false,
        output_hash: sha256('null'),
      });
    });

    test('and ends it when its time is up', async () => {
      const { receipt } = await engine.run('HANG');
      expect((await engine.read(receipt.id)).receipt).toMatchObject({
        outcome: 'timed_out',
        error: 'function_timeout',
      });
    });
  });

  describe('runs an http row', () => {
    test('and keeps what was sent and received', async () => {
      await engine.insert({ key: 'POST', type: 'http', target: `POST ${echo.url}/p/$1`, content: '{"text":"$2+"}' });
      const { receipt, resultText, upstreamText } = await engine.run('POST', { input: { body: 'a/b|c|d"\n' } });
      const received = echo.requests.at(-1);
      expect(received).toMatchObject({ method: 'POST', url: '/p/a%2Fb', body: '{"text":"c|d\\"\\n"}' });
      expect(JSON.parse(resultText)).toEqual(received);
      expect(JSON.parse(upstreamText ?? '')).toEqual({ status: 200, content_type: 'application/json' });
      const committed = await engine.read(receipt.id);
      expect(committed.payload).toMatchObject({ result: resultText, upstream: upstreamText });
      expect(receipt.output_hash).toBe(sha256(committed.payload.result ?? ''));
    });

    test('and takes a status of 400 or more for a failed run, with the body kept', async () => {
      const { receipt, error, resultText } = await engine.run('UPSTREAM', { input: { body: '404' } });
      expect(error?.reason).toBe('upstream_404');
      expect(resultText).toBe('{"from":"upstream"}');
      expect((await engine.read(receipt.id)).receipt).toMatchObject({
        outcome: 'failed',
        error: 'upstream_404',
        material: false,
        status: 'PROVEN_ATTEMPT_NO_MATERIAL_RESULT',
      });
    });

    test('and records an upstream that is too slow as timed out', async () => {
      const { receipt } = await engine.run('SLOW');
      expect(receipt).toMatchObject({ outcome: 'timed_out', error: 'upstream_timeout' });
    });

    test('and cuts the credential out of everything that is kept, but hashes what was received', async () => {
      await engine.insert({
        key: 'AUTHED',
        type: 'http',
        target: `POST ${echo.url}/x`,
        auth: 'bearer:TOKEN',
        content: '$1',
      });
      const { receipt, resultText } = await engine.run('AUTHED', { input: { body: `my token is ${SECRET}` } });
      expect(echo.requests.at(-1)?.headers.authorization).toBe(`Bearer ${SECRET}`);
      const { payload, receipt: committed } = await engine.read(receipt.id);
      expect(JSON.stringify([committed, payload])).not.toContain(SECRET);
      expect(payload).toMatchObject({ request_redacted: true, result_redacted: true });
      expect(committed.input_hash).toBe(sha256(`my token is ${SECRET}`));
      expect(committed.output_hash).toBe(sha256(resultText));
    });
  });

  describe('refuses', () => {
    /** A refusal leaves a receipt, committed when the caller hears of it, and says that nothing ran. */
    const expectDenied = async (error: Awaited<ReturnType<TestEngine['refuse']>>, reason: string) => {
      expect(error.reason).toBe(reason);
      const { receipt, payload } = await engine.read(error.details.receipt);
      expect(receipt).toMatchObject({
        outcome: 'denied',
        error: reason,
        error_message: error.message,
        material: false,
        output_hash: null,
        lane: null,
        trace: error.details.trace,
      });
      expect(payload.result).toBeNull();
      return receipt;
    };

    test('an unknown key, and suggests the nearest', async () => {
      const error = await engine.refuse('ECCHO', { input: { body: 'x' } });
      expect(error.details.did_you_mean).toContain('ECHO');
      const receipt = await expectDenied(error, 'unknown_key');
      expect(receipt).toMatchObject({ key: 'ECCHO', type: null, row_version: null, contract_fingerprint: null });
      expect(receipt.input_hash).toBe(sha256('x'));
    });

    test.each(['constructor', '__proto__', '', 'a\0b\ud800', 'é'.repeat(300)])(
      'the key %j, whatever it holds',
      async (key) => {
        await expectDenied(await engine.refuse(key), 'unknown_key');
      },
    );

    test('a disabled row', async () => {
      const receipt = await expectDenied(await engine.refuse('DISABLED'), 'capability_disabled');
      expect(receipt).toMatchObject({ type: 'fn', row_version: 1 });
    });

    test('a contract that is no longer the expected one', async () => {
      const pinned = 'a'.repeat(64);
      const current = engine.parts.catalogue.find('ECHO')?.fingerprint;
      const error = await engine.refuse('ECHO', { expectContract: pinned });
      await expectDenied(error, `contract_changed:${pinned}!=${current}`);
      await engine.run('ECHO', { expectContract: current });
    });

    test('arguments that do not fit the schema, before anything is sent', async () => {
      await engine.insert({
        key: 'STRICT',
        type: 'http',
        target: `GET ${echo.url}/strict?n=$n`,
        input_schema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
      });
      const before = echo.requests.length;
      await expectDenied(await engine.refuse('STRICT', { input: { args: { n: 'many' } } }), 'invalid_args');
      expect(echo.requests).toHaveLength(before);
    });

    test('a row whose credential is not set, before anything is sent', async () => {
      await engine.insert({ key: 'NO_TOKEN', type: 'http', target: `GET ${echo.url}/none`, auth: 'bearer:MISSING' });
      const before = echo.requests.length;
      await expectDenied(await engine.refuse('NO_TOKEN'), 'credential_missing:MISSING');
      expect(echo.requests).toHaveLength(before);
    });

    test("a row that names one of the server's own secrets", async () => {
      await engine.insert({ key: 'THIEF', type: 'http', target: `GET ${echo.url}/`, auth: 'bearer:ROWCALL_OWNER_KEY' });
      await expectDenied(await engine.refuse('THIEF'), 'invalid_row');
    });

    test.each(['FLOW', 'AGENT'])('a row of a type that it does not run: %s', async (key) => {
      await expectDenied(await engine.refuse(key), 'type_unavailable');
    });

    test('a row that names a function which is not there', async () => {
      await engine.insert({ key: 'NOWHERE', target: 'NOWHERE' });
      await expectDenied(await engine.refuse('NOWHERE'), 'invalid_row');
    });

    test('a lane that no runner serves, at once', async () => {
      await engine.insert({ key: 'ON_MAC', runner: 'mac' });
      await expectDenied(await engine.refuse('ON_MAC'), 'lane_unavailable:mac');
      const { rows } = await engine.observer.pool.query(`select 1 from job where lane = 'mac'`);
      expect(rows).toEqual([]);
    });
  });

  describe('queues', () => {
    test('an asynchronous call although no runner is there, and answers at once', async () => {
      const queued = await engine.parts.engine.dispatch(
        { key: 'ECHO', input: { body: 'later' }, mode: 'async' },
        { actor: 'cap:1', traceparent: '00-1-2-03' },
      );
      expect(queued).toMatchObject({ kind: 'queued', lane: 'default' });
      if (queued.kind !== 'queued') throw new Error('not queued');
      const { rows } = await engine.observer.pool.query('select * from job where id = $1', [queued.id]);
      expect(rows).toMatchObject([{ lane: 'default', effect: 'read', lease_owner: null, attempts: 0 }]);
      expect(JSON.parse(rows[0].call)).toMatchObject({
        id: queued.id,
        trace: queued.trace,
        key: 'ECHO',
        input: { body: 'later' },
        actor: 'cap:1',
        traceparent: '00-1-2-03',
        rowVersion: 1,
      });
    });

    test('no asynchronous call that would be refused', async () => {
      const error = await engine.refuse('DISABLED', { mode: 'async' });
      expect(error.code).toBe('capability_disabled');
      expect((await engine.read(error.details.receipt)).receipt.outcome).toBe('denied');
    });

    test('a burst of calls in few statements', async () => {
      const insertions = vi.spyOn(engine.parts.store.pool, 'query');
      const calls = Array.from({ length: 200 }, () =>
        engine.parts.engine.dispatch(
          { key: 'ECHO', input: { body: '' }, mode: 'async' },
          { actor: 'owner', traceparent: null },
        ),
      );
      await Promise.all(calls);
      expect(insertions.mock.calls.length).toBeLessThanOrEqual(4);
      insertions.mockRestore();
    });
  });

  test('answers nothing before the receipt is committed', async () => {
    const holder = await engine.observer.pool.connect();
    await holder.query('begin; lock table receipt in share mode');
    let isAnswered = false;
    const answered = engine.run('ECHO', { input: { body: 'held' } }).then((call) => {
      isAnswered = true;
      return call;
    });
    await vi.waitFor(async () => {
      const { rows } = await engine.observer.pool.query(
        `select 1 from pg_stat_activity
         where datname = current_database() and application_name = 'test-engine-ledger' and wait_event_type = 'Lock'`,
      );
      expect(rows).toHaveLength(1);
    });
    expect(isAnswered).toBe(false);
    await holder.query('commit');
    holder.release();
    await engine.read((await answered).receipt.id);
  });

  test('commits the receipt of every one of many concurrent calls, under an id of its own', async () => {
    const calls = await Promise.all(
      Array.from({ length: 300 }, (_, number) => engine.run('ECHO', { input: { body: `call ${number}` } })),
    );
    const ids = calls.map(({ receipt }) => receipt.id);
    expect(new Set(ids).size).toBe(300);
    const { rows } = await engine.observer.pool.query<{ count: number }>(
      'select count(*)::int as count from receipt join receipt_payload on receipt_id = id where id = any($1)',
      [ids],
    );
    expect(rows[0]?.count).toBe(300);
  });
});
