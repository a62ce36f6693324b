import {
  type BuildEngineOptions,
  buildEngine,
  type Dispatched,
  type DispatchRequest,
  type EngineParts,
} from '@rowcall/engine';
import { type Receipt, type RowWrite, silentLog } from '@rowcall/protocol';
import { findReceipt, insertRow, Listener } from '@rowcall/store';
import { makeRow, type TestStore, testStore } from '@rowcall/testing';
import { vi } from 'vitest';
import { Runner } from '../runner.js';

const CALLER = { actor: 'owner', traceparent: null, chain: [] };

/** A runner as its process has it. */
export interface TestRunner {
  readonly id: string;
  readonly runner: Runner;
  readonly parts: EngineParts;
  /** Stops everything that the process has. */
  end(): Promise<void>;
}

/** One API process and any number of runners on one database. All are in this process, and meet only in Postgres. */
export interface Processes {
  readonly api: EngineParts;
  readonly database: TestStore;
  insert(row: Partial<RowWrite> & { key: string }): Promise<void>;
  dispatch(key: string, request?: Partial<DispatchRequest>): Promise<Dispatched>;
  /** Queues a call. @returns its id. */
  queue(key: string, body?: string): Promise<string>;
  /** Waits for the receipt of a call. */
  untilReceipt(id: string): Promise<Receipt>;
  findJob(id: string): Promise<{ lease_owner: string | null; attempts: number } | undefined>;
  /** Starts a runner; ended at the end of all. */
  startRunner(options?: RunnerTestOptions): Promise<TestRunner>;
  untilLive(lane: string): Promise<void>;
  end(): Promise<void>;
}

export interface RunnerTestOptions {
  readonly lanes?: readonly string[];
  readonly concurrency?: number;
  /** Leaves the runner deaf to changes of the directory, once it has loaded it. */
  readonly isDeaf?: boolean;
  /** Environment variables that only the runner has. */
  readonly credentials?: Readonly<Record<string, string>>;
}

/** Builds an API process and connects it. */
export async function startProcesses(): Promise<Processes> {
  const database = await testStore();
  const build = (
    name: string,
    { readCredential, process }: Pick<BuildEngineOptions, 'readCredential' | 'process'>,
  ): EngineParts =>
    buildEngine({
      databaseUrl: database.url,
      name,
      process,
      version: '0.0.0',
      allowNets: undefined,
      timeZone: 'UTC',
      log: silentLog,
      readCredential,
      secretKey: undefined,
    });
  const api = build('test-api', { readCredential: () => 'a value that only the api process has' });
  const listener = new Listener({
    url: database.url,
    name: 'test-api',
    log: silentLog,
    subscriptions: api.subscriptions,
  });
  await listener.start();
  const { db } = database.store;
  const runners: TestRunner[] = [];
  let count = 0;
  const dispatch: Processes['dispatch'] = (key, request = {}) =>
    api.engine.dispatch({ key, input: { body: '' }, mode: 'sync', ...request }, CALLER);
  return {
    api,
    database,
    dispatch,
    async insert(row) {
      api.catalogue.apply(await insertRow(db, makeRow(row), { actor: 'owner', fingerprint: 'f' }));
    },
    async queue(key, body = '') {
      const dispatched = await dispatch(key, { mode: 'async', input: { body } });
      if (dispatched.kind !== 'queued') throw new Error('the call was not queued');
      return dispatched.id;
    },
    untilReceipt: (id) =>
      vi.waitFor(
        async () => {
          const receipt = await findReceipt(db, id);
          if (receipt === undefined) throw new Error(`no receipt ${id}`);
          return receipt;
        },
        { timeout: 20_000, interval: 10 },
      ),
    findJob: (id) => db.selectFrom('job').select(['lease_owner', 'attempts']).where('id', '=', id).executeTakeFirst(),
    async startRunner({ lanes = ['default'], concurrency = 10, isDeaf = false, credentials = {} } = {}) {
      count += 1;
      const id = `runner_${count}`;
      const registration = { id, lanes, concurrency, host: 'host', pid: 1 };
      const parts = build(id, { readCredential: (name) => credentials[name], process: registration });
      const { store, engine, catalogue, housekeeping } = parts;
      const sweep = () => housekeeping.sweep();
      const runner = new Runner({ runner: registration, store, engine, log: silentLog, sweep });
      if (isDeaf) await catalogue.subscription.onConnected?.();
      const subscriptions = isDeaf ? [runner.subscription] : [...parts.subscriptions, runner.subscription];
      const ears = new Listener({ url: database.url, name: id, log: silentLog, subscriptions });
      await ears.start();
      await runner.start();
      let ending: Promise<void> | undefined;
      const end = async () => {
        await runner.stop(0);
        await parts.drain(0);
        await ears.stop();
        await store.close();
      };
      const started = {
        id,
        runner,
        parts,
        end: () => {
          ending ??= end();
          return ending;
        },
      };
      runners.push(started);
      return started;
    },
    untilLive: (lane) =>
      vi.waitFor(
        () => {
          if (!api.lanes.isLive(lane)) throw new Error(`nobody serves ${lane}`);
        },
        { timeout: 5_000, interval: 5 },
      ),
    async end() {
      await Promise.all(runners.map((runner) => runner.end()));
      await api.drain(0);
      await listener.stop();
      await api.store.close();
      await database.drop();
    },
  };
}
