import type { Catalogue } from '@rowcall/catalogue';
import { buildEngine, type Directory, type Engine, type EngineParts } from '@rowcall/engine';
import type { ServerConfig } from '@rowcall/process';
import type { Log } from '@rowcall/protocol';
import { Listener, type Store } from '@rowcall/store';
import { EventStreams } from './event-streams.js';
import { RefusalCounter } from './refusal-counter.js';

/** Everything an API process is made of, built once. */
export interface Context {
  readonly config: Pick<ServerConfig, 'publicContracts' | 'publicConfirm'>;
  readonly store: Store;
  readonly catalogue: Catalogue;
  readonly lanes: { readonly live: readonly string[] };
  readonly engine: Engine;
  readonly directory: Directory;
  readonly events: EventStreams;
  readonly refusals: RefusalCounter;
  readonly isOwnerKey: (candidate: string) => boolean;
  /** The environment variables that a credential needs and that are not set. */
  readonly missingCredentials: EngineParts['missingCredentials'];
  /** Address under which callers reach this process, without a slash at its end. */
  readonly baseUrl: () => string;
  /** Loads functions and the catalogue, and listens. Returns when the process can answer. */
  start(): Promise<void>;
  /** Gives calls under way `graceMs`; then they are cancelled, and every receipt is written. */
  drain(graceMs: number): Promise<void>;
  /** Ends in reverse order of opening. May be called twice. */
  stop(): Promise<void>;
}

/** What {@link buildContext} needs beside the configuration. */
export interface ContextOptions {
  readonly log: Log;
  readonly isOwnerKey: (candidate: string) => boolean;
  readonly readCredential: (name: string) => string | undefined;
  readonly baseUrl: () => string;
  readonly version: string;
}

/** Wires an API process. Connects to nothing yet. */
export function buildContext(config: ServerConfig, options: ContextOptions): Context {
  const { log, isOwnerKey, baseUrl, readCredential, version } = options;
  const { databaseUrl, allowNets, timeZone, secretKey, functionFolder } = config;
  const name = 'rowcall-api';
  const parts = buildEngine({
    databaseUrl,
    allowNets,
    timeZone,
    secretKey,
    functionFolder,
    name,
    version,
    log,
    readCredential,
  });
  const { store, catalogue, lanes, engine, directory, subscriptions } = parts;
  const refusals = new RefusalCounter({ store, log });
  const events = new EventStreams({ store, log });
  const listener = new Listener({
    url: databaseUrl,
    name,
    log,
    subscriptions: [...subscriptions, events.subscription],
  });
  const stopAll = async () => {
    events.stop();
    await parts.drain(0);
    await refusals.stop();
    await listener.stop();
    await store.close();
  };
  let stopping: Promise<void> | undefined;
  return {
    config,
    store,
    catalogue,
    lanes,
    engine,
    directory,
    events,
    refusals,
    isOwnerKey,
    missingCredentials: parts.missingCredentials,
    baseUrl,
    async start() {
      await parts.loadFunctions();
      await listener.start();
    },
    drain: (graceMs) => parts.drain(graceMs),
    stop() {
      stopping ??= stopAll();
      return stopping;
    },
  };
}
