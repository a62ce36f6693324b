import { createHash } from 'node:crypto';
import type { JsonValue } from '@rowcall/protocol';
import { describe, expect, it } from 'vitest';
import { type Attempt, buildReceipt, type Ending, hashInput, type Redactor } from './build.js';

const keepAll: Redactor = { text: (text) => text, json: (value) => value };

const attempt: Attempt = {
  id: 'inv_1',
  trace: 't_1',
  parent: null,
  step: null,
  key: 'ECHO',
  input: { body: 'hello' },
  actor: 'owner',
  startedAt: Date.UTC(2026, 0, 2, 3, 4, 5, 6),
  onBehalfOf: null,
  reason: null,
  traceparent: null,
  replayOf: null,
  repairs: null,
  askId: null,
};

const ending: Ending = {
  row: { type: 'fn', version: 3, fingerprint: 'f'.repeat(64) },
  lane: 'inline',
  finishedAt: Date.UTC(2026, 0, 2, 3, 4, 5, 9),
  outcome: 'succeeded',
  result: { value: 'hello', text: '"hello"' },
};

const resultOf = (value: JsonValue) => ({ value, text: JSON.stringify(value) });

describe('buildReceipt', () => {
  it('hashes the very bytes that went in and came out', () => {
    const { receipt } = buildReceipt(attempt, ending, keepAll);
    expect(receipt.input_hash).toBe('2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824');
    expect(receipt.output_hash).toBe('5aa762ae383fbb727af3c7a36d4940a5b8c40a989452d2304fc958ff3f354e7a');
  });

  it('proves material only for a usable output of a run that succeeded', () => {
    const statusOf = (more: Partial<Ending>) => buildReceipt(attempt, { ...ending, ...more }, keepAll).receipt.status;
    expect(statusOf({})).toBe('PROVEN_MATERIAL_RESULT');
    expect(statusOf({ result: resultOf('') })).toBe('PROVEN_ATTEMPT_NO_MATERIAL_RESULT');
    expect(statusOf({ outcome: 'failed' })).toBe('PROVEN_ATTEMPT_NO_MATERIAL_RESULT');
  });

  it('says that nothing ran when nothing did', () => {
    const { result: _result, ...refused } = ending;
    const { receipt, payload } = buildReceipt(
      attempt,
      {
        ...refused,
        row: null,
        lane: null,
        outcome: 'denied',
        error: { reason: 'unknown_key', message: 'no such row' },
      },
      keepAll,
    );
    expect(receipt).toMatchObject({ type: null, row_version: null, output_hash: null, error: 'unknown_key' });
    expect(payload.result).toBeNull();
  });

  it('makes hostile keys and messages fit for a text column', () => {
    const { receipt } = buildReceipt(
      { ...attempt, key: `A\0B\uD800${'x'.repeat(500)}` },
      { ...ending, row: null, outcome: 'denied', error: { reason: 'unknown_key', message: 'bad \0 byte' } },
      keepAll,
    );
    expect(receipt.key.startsWith('A\uFFFDB\uFFFDx')).toBe(true);
    expect(receipt.key).toHaveLength(128);
    expect(receipt.error_message).toBe('bad \uFFFD byte');
  });

  it('keeps what was redacted, and says so, while the hashes stay those of the real bytes', () => {
    const redactor: Redactor = {
      text: (text) => text.replace('hello', '[redacted]'),
      json: (value) => (value === 'hello' ? '[redacted]' : value),
    };
    const { receipt, payload } = buildReceipt(attempt, ending, redactor);
    expect(payload).toMatchObject({
      request: '{"body":"[redacted]"}',
      request_redacted: true,
      result: '"[redacted]"',
      result_redacted: true,
    });
    expect(receipt.output_hash).toBe('5aa762ae383fbb727af3c7a36d4940a5b8c40a989452d2304fc958ff3f354e7a');
  });

  it('never ends before it began, whatever the clock does', () => {
    const { receipt } = buildReceipt(attempt, { ...ending, finishedAt: 0 }, keepAll);
    expect(receipt.finished_at).toBe(receipt.started_at);
  });
});

describe('hashInput', () => {
  it('takes named arguments in their canonical form, whatever the order they came in', () => {
    const canonical = createHash('sha256').update('{"a":1,"b":[true,null]}').digest('hex');
    expect(hashInput({ args: { b: [true, null], a: 1 } })).toBe(canonical);
    expect(hashInput({ args: { a: 1, b: [true, null] } })).toBe(canonical);
  });

  it('redacts what a caller says beside the input, and a key that no row has', () => {
    const noted = { ...attempt, key: 'S3CRET', onBehalfOf: 'for S3CRET', reason: 'S3CRET it is' };
    const redactor: Redactor = { ...keepAll, text: (text) => text.replaceAll('S3CRET', '[redacted]') };
    const denied: Ending = {
      ...ending,
      row: null,
      outcome: 'denied',
      error: { reason: 'x:S3CRET', message: 'S3CRET' },
    };
    expect(buildReceipt(noted, denied, redactor).receipt).toMatchObject({
      key: '[redacted]',
      on_behalf_of: 'for [redacted]',
      reason: '[redacted] it is',
      error: 'x:[redacted]',
      error_message: '[redacted]',
    });
  });
});
