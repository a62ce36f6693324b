import { makeReceipt, type TestStore, testStore } from '@rowcall/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findReceipt, findReceiptPayload, insertReceipts, listEndedCalls, listTrace } from './receipt.js';

describe('receipts', () => {
  let database: TestStore;

  beforeAll(async () => {
    database = await testStore();
  });

  afterAll(async () => {
    await database.drop();
  });

  const insert = (...records: Parameters<typeof insertReceipts>[1]) =>
    insertReceipts(database.store.ledgerPool, records);

  test('come back as they were written, every column', async () => {
    const full = makeReceipt({
      parent: 'inv_1',
      step: 2,
      type: 'http',
      row_version: 7,
      lane: 'mac',
      actor: 'cap:x',
      outcome: 'failed',
      status: 'PROVEN_ATTEMPT_NO_MATERIAL_RESULT',
      material: false,
      error: 'upstream_404',
      error_message: 'nothing "there" 🙂',
      tokens_in: 1,
      tokens_out: 2,
      tokens_cached: 3,
      cost_usd: 0.123456,
      replay_of: 'inv_2',
      repairs: 'inv_3',
      on_behalf_of: 'somebody',
      reason: 'because\nof it',
      traceparent: '00-1-2-03',
    });
    const empty = makeReceipt({
      type: null,
      row_version: null,
      lane: null,
      output_hash: null,
      contract_fingerprint: null,
    });
    await insert(full, empty);
    expect(await findReceipt(database.store.db, full.receipt.id)).toEqual(full.receipt);
    expect(await findReceipt(database.store.db, empty.receipt.id)).toEqual(empty.receipt);
    expect(await findReceipt(database.store.db, 'inv_0')).toBeUndefined();
  });

  test.each([
    ['an escaped U+0000', JSON.stringify({ body: '\0' })],
    ['escaped lone surrogates', JSON.stringify({ body: '\ud800 \udfff' })],
    ['numbers that a parser would write otherwise', '{"b":1.0, "a":1e3,"a" : 12345678901234567890}'],
    ['text that is no JSON', '{"half'],
    ['what an array literal has to escape', '{NULL,"\\"\\\\",\',}'],
    ['the text NULL', 'NULL'],
    ['an empty text', ''],
    ['one MiB', JSON.stringify('é🙂"\\'.repeat(116_509))],
  ])('keep a payload to the byte: %s', async (_name, text) => {
    const record = makeReceipt({}, { request: text, result: text, upstream: text, result_redacted: true });
    await insert(makeReceipt(), record, makeReceipt({}, { result: null }));
    expect(await findReceiptPayload(database.store.db, record.receipt.id)).toEqual(record.payload);
  });

  test('that are written twice are there once, as they were first written', async () => {
    const record = makeReceipt();
    const again = makeReceipt({ id: record.receipt.id, actor: 'somebody else' }, { result: '"other"' });
    await insert(record);
    await insert(again, makeReceipt());
    expect(await findReceipt(database.store.db, record.receipt.id)).toEqual(record.receipt);
    expect(await findReceiptPayload(database.store.db, record.receipt.id)).toEqual(record.payload);
  });

  test('of one trace are listed oldest first, and bounded', async () => {
    const records = [3, 1, 2].map((number) => makeReceipt({ id: `inv_trace_${number}`, trace: 't_listed' }));
    await insert(...records);
    const listed = await listTrace(database.store.db, 't_listed', 2);
    expect(listed.map(({ id }) => id)).toEqual(['inv_trace_1', 'inv_trace_2']);
  });

  test('tell which of some calls have ended', async () => {
    const record = makeReceipt();
    await insert(record);
    expect(await listEndedCalls(database.store.db, [record.receipt.id, 'inv_0'])).toEqual([record.receipt.id]);
  });

  test.each([
    ['end before they start', { finished_at: '2026-01-01T00:00:00.000Z' }],
    ['claim material without its status', { status: 'PROVEN_ATTEMPT_NO_MATERIAL_RESULT' as const }],
    ['have an unknown outcome', { outcome: 'lucky' as 'failed' }],
  ])('are refused by the database when they %s', async (_name, columns) => {
    await expect(insert(makeReceipt(columns))).rejects.toMatchObject({ code: '23514' });
  });

  test('are committed durably whatever the server says', async () => {
    const { rows } = await database.store.ledgerPool.query('show synchronous_commit');
    expect(rows).toEqual([{ synchronous_commit: 'on' }]);
  });
});
