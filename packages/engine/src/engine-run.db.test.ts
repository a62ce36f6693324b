import { INVOCATION_ID_PATTERN } from '@rowcall/protocol';
import { type EchoUpstream, startEchoUpstream, startUpstream, type TestUpstream } from '@rowcall/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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
      readCredential: (name) => (name === 'TOKEN' ? SECRET : undefined),
    });
    await engine.insert({ key: 'ECHO', content: '# WHAT: Gives back.\n["$1+"]' });
    await engine.insert({ key: 'THROW', target: 'THROW' });
    await engine.insert({ key: 'BIGINT', target: 'BIGINT' });
    await engine.insert({ key: 'HANG', target: 'HANG', limits: { timeout_ms: 20 } });
    await engine.insert({ key: 'SAY', target: 'SAY', content: '# WHAT: Says.\n["$1+"]' });
    await engine.insert({ key: 'UPSTREAM', type: 'http', target: `GET ${upstream.url}/$1` });
    await engine.insert({ key: 'SLOW', type: 'http', target: `GET ${upstream.url}/hang`, limits: { timeout_ms: 20 } });
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
        trace: expect.stringMatching(/^t_[0-9a-f]{32}$/),
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
});
