import { createHash } from 'node:crypto';
import type { AppError } from '@rowcall/errors';
import { type Receipt, type ReceiptPayload, type RowWrite, silentLog } from '@rowcall/protocol';
import {
  findReceipt,
  findReceiptPayload,
  insertRow,
  Listener,
  openStore,
  type Store,
  type StoredRow,
} from '@rowcall/store';
import { makeRow, type TestStore, testStore } from '@rowcall/testing';
import type { FinishedCall } from '../answer.js';
import { type BuildEngineOptions, buildEngine, type EngineParts } from '../build-engine.js';
import type { Caller, DispatchRequest } from '../call.js';

/** An engine of real parts on a database of its own, and a second pair of eyes on that database. */
export interface TestEngine {
  readonly parts: EngineParts;
  readonly database: TestStore;
  /** Another process, which sees only what is committed. */
  readonly observer: Store;
  insert(row: Partial<RowWrite> & { key: string }): Promise<StoredRow>;
  /** Runs a row that is expected to run. */
  run(key: string, request?: Partial<DispatchRequest>): Promise<FinishedCall>;
  /** Runs a row that is expected to be refused, and gives the error. */
  refuse(key: string, request?: Partial<DispatchRequest>): Promise<AppError>;
  /** What was committed of a call. */
  read(id: unknown): Promise<{ receipt: Receipt; payload: ReceiptPayload }>;
  stop(): Promise<void>;
}

/** SHA-256 of UTF-8 bytes, computed apart from the code under test. */
export const sha256 = (text: string): string => createHash('sha256').update(Buffer.from(text, 'utf8')).digest('hex');

export const CALLER: Caller = { actor: 'owner', traceparent: null, chain: [] };

/** Starts a {@link TestEngine}. @param shared the database of another, which outlives this engine; a new one when not given. */
export async function startTestEngine(
  options: Partial<BuildEngineOptions> = {},
  shared?: TestStore,
): Promise<TestEngine> {
  const database = shared ?? (await testStore());
  const observer = openStore({ url: database.url, name: 'observer', log: silentLog });
  const parts = buildEngine({
    databaseUrl: database.url,
    name: 'test-engine',
    version: '0.0.0',
    allowNets: undefined,
    timeZone: 'Europe/Oslo',
    log: silentLog,
    readCredential: () => undefined,
    secretKey: undefined,
    ...options,
  });
  const { subscriptions, store, catalogue, engine } = parts;
  const listener = new Listener({ url: database.url, name: 'test-engine', log: silentLog, subscriptions });
  await parts.housekeeping.start();
  await parts.loadFunctions();
  await listener.start();
  const dispatch = (key: string, request: Partial<DispatchRequest>) =>
    engine.dispatch({ key, input: { body: '' }, mode: 'sync', ...request }, CALLER);
  return {
    parts,
    database,
    observer,
    async insert(row) {
      const stored = await insertRow(store.db, makeRow(row), { actor: 'owner', fingerprint: 'f' });
      catalogue.apply(stored);
      return stored;
    },
    async run(key, request = {}) {
      const dispatched = await dispatch(key, request);
      if (dispatched.kind !== 'finished') throw new Error('the call was queued');
      return dispatched.call;
    },
    async refuse(key, request = {}) {
      const dispatched = await dispatch(key, request).catch((error: unknown) => error as AppError);
      if (!('code' in dispatched)) throw new Error('the call was not refused');
      return dispatched;
    },
    async read(id) {
      const receipt = await findReceipt(observer.db, String(id));
      const payload = await findReceiptPayload(observer.db, String(id));
      if (receipt === undefined || payload === undefined) throw new Error(`receipt ${id} is not committed`);
      return { receipt, payload };
    },
    async stop() {
      await parts.drain(0);
      await listener.stop();
      await store.close();
      await observer.close();
      if (shared === undefined) await database.drop();
    },
  };
}
