import { type EchoUpstream, startEchoUpstream } from '@rowcall/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sha256, startTestEngine, type TestEngine } from './testing/engine.js';

describe('the engine', () => {
  let engine: TestEngine;
  let echo: EchoUpstream;

  beforeAll(async () => {
    echo = await startEchoUpstream();
    engine = await startTestEngine();
    await engine.insert({ key: 'ECHO', content: '# WHAT: Gives back.\n["$1+"]' });
    await engine.insert({ key: 'DISABLED', enabled: false });
    await engine.insert({ key: 'FLOW', type: 'flow', target: '' });
    await engine.insert({ key: 'AGENT', type: 'agent', target: 'model' });
  });

  afterAll(async () => {
    await engine.stop();
    await echo.close();
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

    test('an argument by a name that the row does not have, and says which names it has', async () => {
      await engine.insert({ key: 'NAMED', content: '# WHAT: Greets.\n# ARGS: $1=city (any)\n["$1 $greeting"]' });
      const error = await engine.refuse('NAMED', { input: { args: { city: 'Oslo', citty: 'Bergen' } } });
      expect(error.message).toBe('NAMED has no argument citty; it takes city, greeting');
      await expectDenied(error, 'invalid_args');
    });

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
});
