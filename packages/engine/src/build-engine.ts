import { hostname } from 'node:os';
import { Catalogue } from '@rowcall/catalogue';
import type { Auth } from '@rowcall/contract';
import type { Log } from '@rowcall/protocol';
import { sha256 } from '@rowcall/receipts';
import { Ledger, type NewProcess, openStore, type Store, type Subscription } from '@rowcall/store';
import { Approvals } from './approvals.js';
import { Asks } from './asks/asks.js';
import { CallRecords } from './call-records.js';
import { Completions } from './completions.js';
import { Credentials } from './credentials.js';
import { Directory } from './directory/directory.js';
import { Engine } from './engine.js';
import { FunctionFolder } from './functions/folder.js';
import { buildBuiltIns } from './functions/index.js';
import { type FunctionDefinition, FunctionRegistry } from './functions/registry.js';
import { GrantBook } from './grants/grant-book.js';
import { Grants } from './grants/grants.js';
import { Housekeeping } from './housekeeping.js';
import { buildHttpRunner } from './http/runner.js';
import { newProcessId } from './ids.js';
import { Lanes } from './lanes.js';
import { Lineage } from './lineage.js';
import { NO_VAULT, PostgresVault } from './oauth/vault.js';
import { Openings } from './openings.js';
import { ReceiptRedactor } from './receipt-redactor.js';
import { RepeatedRequests } from './repeated-requests.js';

/** What a process gives to the engine that it builds. */
export interface BuildEngineOptions {
  readonly databaseUrl: string;
  /** Name of the process, shown in pg_stat_activity. */
  readonly name: string;
  readonly version: string;
  /** Private networks (CIDR) that rows may reach. Undefined: loopback only, the quick-start default. */
  readonly allowNets: readonly string[] | undefined;
  /** IANA zone of the owner. */
  readonly timeZone: string;
  readonly log: Log;
  /** The value of an environment variable that a row names. */
  readonly readCredential: (name: string) => string | undefined;
  /** ROWCALL_SECRET_KEY, which tokens are kept encrypted with. Undefined: they end with the process. */
  readonly secretKey: string | undefined;
  /** Other secrets of the deployment's own, to be cut from the questions that are kept. */
  readonly ownSecrets?: readonly string[];
  /** Epoch milliseconds; the machine's clock when not given. */
  readonly now?: () => number;
  /** Functions beside the built-in ones. */
  readonly functions?: readonly FunctionDefinition[];
  /** Folder of modules that define more functions; none when not given. */
  readonly functionFolder?: string | undefined;
  /** What the process is registered as; as one that serves no lanes when not given. */
  readonly process?: NewProcess | undefined;
  /** Called before a call fires that was opened; for tests of what a crash there leaves. */
  readonly beforeFire?: ((id: string) => void | Promise<void>) | undefined;
}

/** An engine with the parts that its process needs to reach. */
export interface EngineParts {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly directory: Directory;
  readonly catalogue: Catalogue;
  readonly lanes: Lanes;
  readonly engine: Engine;
  readonly grantBook: GrantBook;
  readonly grants: Grants;
  readonly approvals: Approvals;
  readonly lineage: Lineage;
  readonly repeatedRequests: RepeatedRequests;
  /** Whoever opened the store stops it before: then it writes what waits. */
  readonly asks: Asks;
  /** Keeps the process registered, from `start` on: what may be called only then is whatever changes the world. */
  readonly housekeeping: Housekeeping;
  /** The environment variables that a credential needs and that are not set. */
  readonly missingCredentials: (auth: Auth) => readonly string[];
  /** What the process's listener has to deliver. */
  readonly subscriptions: readonly Subscription[];
  /** Loads the functions of the folder and watches it until `drain`. Returns when each was tried. */
  loadFunctions(): Promise<void>;
  /** Gives calls under way `graceMs`, writes the last receipts, and ends upstream connections. The store stays open. */
  drain(graceMs: number): Promise<void>;
}

const POLL_MS = 10;

/** Wires an engine to a database. Connects to nothing yet. */
export function buildEngine(options: BuildEngineOptions): EngineParts {
  const { log, timeZone, allowNets, secretKey } = options;
  const now = options.now ?? Date.now;
  const store = openStore({ url: options.databaseUrl, name: options.name, log });
  const ledger = new Ledger(store.ledgerPool, { log });
  const functions = new FunctionRegistry();
  const catalogue = new Catalogue({ store, log, sha256, now, functionEffect: (name) => functions.effectOf(name) });
  const lanes = new Lanes(store, log);
  const completions = new Completions(store);
  const credentials = new Credentials(options.readCredential);
  const http = buildHttpRunner({
    allowNets: allowNets ?? [],
    allowLoopback: allowNets === undefined,
    userAgent: `rowcall/${options.version}`,
    credential: (name) => credentials.find(name),
    random: Math.random,
    oauth: {
      setting: (name) => credentials.findSetting(name),
      onSecret: (prefix, value) => credentials.remember(prefix, value),
      vault: secretKey === undefined ? NO_VAULT : new PostgresVault({ db: store.db, secretKey, log, now }),
      log,
      now,
    },
  });
  const directory = new Directory({ store, catalogue, functions });
  const redactor = new ReceiptRedactor(credentials);
  const records = new CallRecords({ catalogue, redactor, log, now });
  const grantBook = new GrantBook(store);
  const grants = new Grants({ store, catalogue, book: grantBook, redactor, now });
  const ownProcess = options.process ?? {
    id: newProcessId(),
    lanes: [],
    concurrency: 0,
    host: hostname(),
    pid: process.pid,
  };
  const register = (): Promise<void> => housekeeping.register();
  const openings = new Openings({ store, register });
  const approvals: Approvals = new Approvals({ store, records, openings, log, now, register });
  const housekeeping: Housekeeping = new Housekeeping({
    store,
    log,
    process: ownProcess,
    expireApprovals: () => approvals.expire(),
    isHeld: (id) => openings.isHeld(id) || ledger.isWaiting(id),
  });
  const engine = new Engine(
    {
      catalogue,
      ledger,
      store,
      redactor,
      records,
      grants: grantBook,
      openings,
      lanes,
      completions,
      log,
      functions,
      http,
      now,
      timeZone,
      processId: ownProcess.id,
      beforeFire: options.beforeFire,
    },
    approvals,
  );
  const lineage = new Lineage({ store, engine, catalogue, redactor });
  const ownFunctions = [...buildBuiltIns({ http, directory, grants, lineage }), ...(options.functions ?? [])];
  functions.replace(ownFunctions);
  const folder = buildFolder(options, ownFunctions, (loaded) => {
    // In one turn: no call may see a row with the effect of another function than the one it would run.
    catalogue.refreshFunctions(functions.replace([...ownFunctions, ...loaded]));
  });
  return {
    store,
    ledger,
    directory,
    catalogue,
    lanes,
    engine,
    grantBook,
    grants,
    approvals,
    lineage,
    asks: new Asks({ store, redactor, ownSecrets: toOwnSecrets(options), log, now }),
    repeatedRequests: new RepeatedRequests({ store, completions, engine, secretKey }),
    housekeeping,
    missingCredentials: (auth) => http.missing(auth),
    // Grants first: once the catalogue is fresh again calls run, which must know of every revocation.
    subscriptions: [grantBook.subscription, catalogue.subscription, lanes.subscription, completions.subscription],
    loadFunctions: async () => folder?.start(),
    async drain(graceMs) {
      folder?.stop();
      const until = performance.now() + graceMs;
      while (engine.active > 0 && performance.now() < until)
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      engine.abort();
      await ledger.stop(Math.max(until - performance.now(), 1_000));
      await housekeeping.stop();
      lanes.stop();
      catalogue.stop();
      await http.close();
    },
  };
}

const toOwnSecrets = ({ secretKey, ownSecrets = [] }: BuildEngineOptions): readonly string[] =>
  secretKey === undefined ? ownSecrets : [secretKey, ...ownSecrets];

function buildFolder(
  { functionFolder, log }: BuildEngineOptions,
  ownFunctions: readonly FunctionDefinition[],
  onChange: (functions: readonly FunctionDefinition[]) => void,
): FunctionFolder | undefined {
  if (functionFolder === undefined) return undefined;
  const taken = new Set(ownFunctions.map(({ name }) => name));
  return new FunctionFolder({ folder: functionFolder, taken, log, onChange });
}
