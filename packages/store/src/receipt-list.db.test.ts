import { OUTCOMES, type Receipt } from '@rowcall/protocol';
import { makeReceipt, type TestStore, testStore } from '@rowcall/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertReceipts } from './receipt.js';
import { narrowFilter, type ReceiptFilter } from './receipt-filter.js';
import { listReceipts, type ReceiptQuestion } from './receipt-list.js';
import { toFirstId, WALK_MAX } from './receipt-walk.js';

const FIRST_MS = Date.parse('2026-03-01T00:00:00Z');
const MINUTE_MS = 60_000;

/** An id of the given minute after the first. */
const toId = (minute: number): string => toFirstId(FIRST_MS + minute * MINUTE_MS).padEnd(36, '7');

const isMaterial = (material: boolean) =>
  ({ material, status: material ? 'PROVEN_MATERIAL_RESULT' : 'PROVEN_ATTEMPT_NO_MATERIAL_RESULT' }) as const;

/** One receipt a minute, so that every combination of what filters ask occurs. */
function makeLedger(count: number): Receipt[] {
  return Array.from({ length: count }, (_, minute) => {
    const outcome = OUTCOMES[minute % OUTCOMES.length] ?? 'succeeded';
    return makeReceipt({
      id: toId(minute),
      trace: `t_${Math.floor(minute / 4)}`,
      key: `KEY_${minute % 5}`,
      actor: ['owner', 'cap:a', 'cap:b'][minute % 3] ?? 'owner',
      outcome,
      ...isMaterial(outcome === 'succeeded' && minute % 4 === 0),
      tokens_out: minute % 7 === 0 ? 10 : 0,
      cost_usd: minute % 7 === 0 ? 0.25 : 0,
    }).receipt;
  });
}

const isWaste = ({ material, tokens_out }: Receipt): boolean => !material && tokens_out > 0;

/** What a filter means, told without a database. */
const fits =
  ({ key, trace, actor, outcome, material, waste, fromMs, toMs }: ReceiptFilter) =>
  (receipt: Receipt): boolean =>
    (key === undefined || receipt.key === key) &&
    (trace === undefined || receipt.trace === trace) &&
    (actor === undefined || receipt.actor === actor) &&
    (outcome === undefined || receipt.outcome === outcome) &&
    (material === undefined || receipt.material === material) &&
    (waste === undefined || isWaste(receipt)) &&
    (fromMs === undefined || receipt.id >= toFirstId(fromMs)) &&
    (toMs === undefined || receipt.id < toFirstId(toMs));

/** Every combination of one value each, or none. */
function combine(): ReceiptFilter[] {
  const choices: readonly ReceiptFilter[][] = [
    [{}, { key: 'KEY_0' }],
    [{}, { actor: 'owner' }],
    [{}, { outcome: 'failed' }, { outcome: 'succeeded' }],
    [{}, { material: true }, { material: false }],
    [{}, { waste: true }],
    [{}, { trace: 't_15' }],
    [{}, { fromMs: FIRST_MS + 60 * MINUTE_MS, toMs: FIRST_MS + 90 * MINUTE_MS }],
  ];
  return choices.reduce<ReceiptFilter[]>(
    (filters, options) => filters.flatMap((filter) => options.map((option) => ({ ...filter, ...option }))),
    [{}],
  );
}

describe('lists of receipts', () => {
  const ledger = makeLedger(210);
  let database: TestStore;

  const insert = (receipts: readonly Receipt[]) =>
    insertReceipts(
      database.store.ledgerPool,
      receipts.map((receipt) => makeReceipt(receipt)),
    );
  const list = async (filter: ReceiptFilter, options: Partial<ReceiptQuestion>) =>
    listReceipts(database.store.db, { filter, visible: 'all', limit: 200, summarize: false, ...options });
  const sum = async (filter: ReceiptFilter, options: Partial<ReceiptQuestion> = {}) =>
    (await list(filter, { ...options, summarize: true })).summary;

  async function walkPages(filter: ReceiptFilter, limit: number): Promise<string[]> {
    const ids: string[] = [];
    for (let next: string | undefined | null; next !== null; ) {
      const page = await list(filter, { limit, ...(next === undefined ? {} : { before: next }) });
      ids.push(...page.receipts.map(({ id }) => id));
      next = page.next;
    }
    return ids;
  }

  beforeAll(async () => {
    database = await testStore();
    await insert(ledger);
  });
  afterAll(() => database.drop());

  test('hold what fits every combination of filters, newest first, in pages', async () => {
    for (const filter of combine()) {
      const expected = ledger.filter(fits(filter)).map(({ id }) => id);
      expect(await walkPages(filter, 17), JSON.stringify(filter)).toEqual(expected.reverse());
    }
  });

  test('give receipts as they were written', async () => {
    const [first] = (await list({}, { limit: 1 })).receipts;
    expect(first).toEqual(ledger.at(-1));
  });

  test('end with the last receipt, without a page of nothing', async () => {
    const page = await list({ key: 'KEY_1' }, { limit: ledger.filter(({ key }) => key === 'KEY_1').length });
    expect(page.next).toBeNull();
  });

  test('show an actor its own receipts, whatever it asks for', async () => {
    const visible = { actor: 'cap:a' };
    const mine = ledger.filter(({ actor }) => actor === 'cap:a').map(({ id }) => id);
    const page = await list({}, { visible });
    expect(page.receipts.map(({ id }) => id)).toEqual(mine.reverse());
    expect(await list({ actor: 'owner' }, { visible })).toEqual({ receipts: [], next: null, summary: null });
    expect(await sum({ actor: 'owner' }, { visible })).toMatchObject({ over: 0, complete: true });
    expect(await sum({}, { visible })).toMatchObject({ over: mine.length, complete: true });
    expect(narrowFilter({ actor: 'cap:a', key: 'X' }, visible)).toEqual({ actor: 'cap:a', key: 'X' });
  });

  test('are summed up as they are', async () => {
    const summary = await sum({ key: 'KEY_0' }, { limit: 1, before: toId(9) });
    const fitting = ledger.filter(({ key }) => key === 'KEY_0');
    const share = (count: number) => expect.closeTo(count / fitting.length, 10);
    expect(summary).toEqual({
      over: fitting.length,
      complete: true,
      outcomes: Object.fromEntries(
        OUTCOMES.map((outcome) => [outcome, fitting.filter((receipt) => receipt.outcome === outcome).length]),
      ),
      material_rate: share(fitting.filter(({ material }) => material).length),
      waste_rate: share(fitting.filter(isWaste).length),
      cost_usd: expect.closeTo(
        fitting.reduce((sum, { cost_usd }) => sum + cost_usd, 0),
        10,
      ),
      tokens_in: 0,
      tokens_out: fitting.reduce((sum, { tokens_out }) => sum + tokens_out, 0),
      tokens_cached: 0,
      p50_ms: 6,
      p95_ms: 6,
      p99_ms: 6,
    });
  });

  test('of nothing have no rates', async () => {
    expect(await sum({ key: 'NEVER' })).toMatchObject({
      over: 0,
      complete: true,
      material_rate: null,
      waste_rate: null,
      p99_ms: null,
      cost_usd: 0,
    });
  });
});

describe('a filter that no index has', () => {
  let database: TestStore;

  /** As many receipts as a question passes, from the given minute on, of which each is `made`. */
  async function insertMany(minute: number, made: Partial<Receipt>): Promise<void> {
    const records = Array.from({ length: WALK_MAX }, (_, index) => makeReceipt({ id: toId(minute + index), ...made }));
    for (let start = 0; start < WALK_MAX; start += 500) {
      await insertReceipts(database.store.ledgerPool, records.slice(start, start + 500));
    }
  }

  beforeAll(async () => {
    database = await testStore();
    await insertReceipts(database.store.ledgerPool, [
      makeReceipt({ id: toId(0), key: 'QUIET', actor: 'cap:busy' }),
      makeReceipt({ id: toId(1), key: 'BUSY', actor: 'cap:quiet' }),
      makeReceipt({ id: toId(2), key: 'BUSY', actor: 'cap:busy' }),
    ]);
    await insertMany(1_000, { key: 'BUSY', actor: 'cap:other' });
    await insertMany(4_000, { key: 'OTHER', actor: 'cap:busy' });
  });
  afterAll(() => database.drop());

  const list = (filter: ReceiptFilter, before?: string) =>
    listReceipts(database.store.db, { filter, visible: 'all', limit: 50, before, summarize: false });

  test('is answered from the shorter of two walks', async () => {
    expect(await list({ key: 'QUIET', actor: 'cap:busy' })).toMatchObject({ receipts: [{ id: toId(0) }], next: null });
    expect(await list({ key: 'BUSY', actor: 'cap:quiet' })).toMatchObject({ receipts: [{ id: toId(1) }], next: null });
  });

  test('gets a short page, which says where to go on, instead of a long wait', async () => {
    const filter = { key: 'BUSY', actor: 'cap:busy' };
    const first = await list(filter);
    expect(first).toEqual({ receipts: [], next: toId(1_000), summary: null });
    expect(await list(filter, first.next ?? '')).toMatchObject({ receipts: [{ id: toId(2) }], next: null });
  });

  test('is not summed up as a whole where it was not read as a whole', async () => {
    const sum = async (filter: ReceiptFilter) =>
      (await listReceipts(database.store.db, { filter, visible: 'all', limit: 1, summarize: true })).summary;
    expect(await sum({ key: 'BUSY', actor: 'cap:busy' })).toMatchObject({ over: 0, complete: false });
    expect(await sum({ key: 'BUSY' })).toMatchObject({ over: WALK_MAX, complete: false });
    expect(await sum({ key: 'QUIET' })).toMatchObject({ over: 1, complete: true });
  });
});
