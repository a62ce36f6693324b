import { type CatalogueReading, EmbeddingLoader } from '@rowcall/catalogue';
import { buildEmbedder, type Embedder, toModelName } from '@rowcall/embeddings';
import { AskLimits, buildEngine, type EngineParts, LearnedPairs } from '@rowcall/engine';
import type { ServerConfig } from '@rowcall/process';
import type { Log } from '@rowcall/protocol';
import { sha256 } from '@rowcall/receipts';
import { expireAsks, expirePayloads, Listener } from '@rowcall/store';
import { EventStreams } from './event-streams.js';
import { RefusalCounter } from './refusal-counter.js';
import { RetentionSweeper } from './retention-sweeper.js';

/** Parts of the engine that requests reach. */
type Reached =
  | 'store'
  | 'catalogue'
  | 'engine'
  | 'directory'
  | 'grantBook'
  | 'grants'
  | 'approvals'
  | 'lineage'
  | 'repeatedRequests'
  | 'asks'
  | 'housekeeping'
  | 'missingCredentials';

/** Everything an API process is made of, built once. */
export interface Context extends Pick<EngineParts, Reached> {
  readonly config: Pick<ServerConfig, 'publicContracts' | 'publicConfirm' | 'embeddings'>;
  /** Puts questions into numbers, where a service for that is set. */
  readonly embedder: Pick<Embedder, 'embedQuestion'>;
  /** Whose questions vectors are computed for, where a service is set: it may cost money. */
  readonly embeddingLimits: AskLimits | undefined;
  readonly lanes: { readonly live: readonly string[] };
  readonly events: EventStreams;
  readonly refusals: RefusalCounter;
  readonly isOwnerKey: (candidate: string) => boolean;
  /** Address under which callers reach this process, without a slash at its end. */
  readonly baseUrl: () => string;
  /** Loads functions and the catalogue, and listens. Returns when the process can answer. */
  start(): Promise<void>;
  /** Gives calls under way `graceMs`; then they are cancelled, and every receipt is written. */
  drain(graceMs: number): Promise<void>;
  /** Ends in reverse order of opening. May be called twice. */
  stop(): Promise<void>;
}

/** What the door's documents are made of: the context, with the rows that the reader may know of. */
export type DoorContext = Omit<Context, 'catalogue'> & { readonly catalogue: CatalogueReading };

/** What {@link buildContext} needs beside the configuration. */
export interface ContextOptions {
  readonly log: Log;
  readonly isOwnerKey: (candidate: string) => boolean;
  readonly readCredential: (name: string) => string | undefined;
  readonly baseUrl: () => string;
  readonly version: string;
  /** Called before a call fires that was opened; for tests of what a crash there leaves. */
  readonly beforeFire?: (id: string) => void | Promise<void>;
}

const toOwnSecrets = ({ ownerKey, ownerKeyNext, mcpToken }: ServerConfig): string[] =>
  [ownerKey, ownerKeyNext, mcpToken].filter((secret) => secret !== undefined);

/** Wires an API process. Connects to nothing yet. @param config with the owner key, given or generated. */
export function buildContext(config: ServerConfig, options: ContextOptions): Context {
  const { log, isOwnerKey, baseUrl, readCredential, version } = options;
  const { databaseUrl, allowNets, timeZone, secretKey, functionFolder } = config;
  const name = 'rowcall-api';
  const parts = buildEngine({
    databaseUrl,
    allowNets,
    timeZone,
    secretKey,
    ownSecrets: toOwnSecrets(config),
    functionFolder,
    name,
    version,
    log,
    readCredential,
    beforeFire: options.beforeFire,
  });
  const { store, subscriptions } = parts;
  const refusals = new RefusalCounter({ store, log });
  const sweepers = [
    new RetentionSweeper({ store, log, what: 'payloads', expire: expirePayloads, days: config.payloadDays }),
    new RetentionSweeper({ store, log, what: 'asks', expire: expireAsks, days: config.askDays }),
  ];
  const learned = config.learn ? new LearnedPairs({ store, catalogue: parts.catalogue, log }) : undefined;
  const events = new EventStreams({ store, log });
  const embedder = buildEmbedder(config.embeddings, { log });
  const embeddingLimits = config.embeddings === undefined ? undefined : new AskLimits(Date.now);
  const loader =
    config.embeddings === undefined
      ? undefined
      : new EmbeddingLoader({ ...parts, log, sha256, model: toModelName(config.embeddings) });
  const listener = new Listener({
    url: databaseUrl,
    name,
    log,
    subscriptions: [...subscriptions, events.subscription, ...(loader === undefined ? [] : [loader.subscription])],
  });
  const stopAll = async () => {
    events.stop();
    await parts.drain(0);
    for (const sweeper of sweepers) await sweeper.stop();
    await learned?.stop();
    await parts.asks.stop();
    await refusals.stop();
    await embedder.close();
    await loader?.stop();
    await listener.stop();
    await store.close();
  };
  let stopping: Promise<void> | undefined;
  return {
    ...parts,
    config,
    events,
    embedder,
    embeddingLimits,
    refusals,
    isOwnerKey,
    baseUrl,
    async start() {
      await parts.housekeeping.start();
      await parts.loadFunctions();
      await listener.start();
      for (const sweeper of sweepers) sweeper.start();
      learned?.start();
    },
    drain: (graceMs) => parts.drain(graceMs),
    stop() {
      stopping ??= stopAll();
      return stopping;
    },
  };
}
