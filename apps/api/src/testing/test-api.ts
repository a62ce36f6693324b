import { buildKeyCheck, type ServerConfig } from '@rowcall/process';
import { type TestStore, testStore } from '@rowcall/testing';
import type { FastifyInstance } from 'fastify';
import { type LevelWithSilent, pino } from 'pino';
import { buildApp } from '../app.js';
import { buildContext, type Context } from '../context.js';
import { noteNextKey } from '../next-key.js';
import { addSeeds } from '../seed.js';
import { stopServing } from '../stop-serving.js';
import { buildClient, type Client } from './client.js';

/** The owner key of every API under test. */
export const OWNER_KEY = 'owner-key-of-the-tests';
/** Address under which an API that opens no port believes itself to be reached. */
export const BASE_URL = 'http://127.0.0.1:8787';

/** What differs from a new deployment with its seeds. */
export interface TestApiOptions {
  /** A database that another API under test made; one of its own when not given. */
  readonly databaseUrl?: string;
  readonly config?: Partial<ServerConfig>;
  /** Environment variables that rows may name. */
  readonly credentials?: Readonly<Record<string, string>>;
  /** Least level of the log; `info` when not given. */
  readonly logLevel?: LevelWithSilent;
}

/** An API process as it is deployed, in this process, on a real database. */
export interface TestApi {
  readonly context: Context;
  readonly app: FastifyInstance;
  readonly databaseUrl: string;
  /** Requests with the owner key. */
  readonly owner: Client;
  /** Requests without a credential. Each comes from an address of its own: refusals slow an address down. */
  readonly anyone: Client;
  /** Lines of the log so far, JSON texts. */
  readonly log: readonly string[];
  /** Opens a port of 127.0.0.1. @returns the address, without a slash at its end. */
  listen(): Promise<string>;
  /** @param graceMs what calls under way get to finish; 1,000 when not given. */
  close(graceMs?: number): Promise<void>;
}

/** Starts an API with the seed rows. */
export async function startTestApi(options: TestApiOptions = {}): Promise<TestApi> {
  const own: TestStore | undefined = options.databaseUrl === undefined ? await testStore() : undefined;
  const databaseUrl = options.databaseUrl ?? own?.url ?? '';
  const log: string[] = [];
  const logger = pino({ level: options.logLevel ?? 'info' }, { write: (line) => log.push(line) });
  const config = { ...toConfig(databaseUrl), ...options.config };
  const context = buildContext(config, {
    log: logger,
    isOwnerKey: buildKeyCheck(OWNER_KEY, config.ownerKeyNext),
    readCredential: (name) => options.credentials?.[name],
    version: '0.0.0-test',
    baseUrl: () => config.publicUrl ?? BASE_URL,
  });
  const app = await buildApp(context, { log: logger, version: '0.0.0-test' });
  await addSeeds(context);
  await noteNextKey(context, logger, config);
  await context.start();
  await app.ready();
  return {
    context,
    app,
    databaseUrl,
    log,
    owner: buildClient(app, { authorization: `Bearer ${OWNER_KEY}` }),
    anyone: buildClient(app, {}),
    listen: () => app.listen({ host: '127.0.0.1', port: 0 }),
    async close(graceMs = 1_000) {
      await stopServing(app, context, graceMs);
      await own?.drop();
    },
  };
}

/** What the configuration is when nothing is set. */
function toConfig(databaseUrl: string): ServerConfig {
  return {
    databaseUrl,
    host: '127.0.0.1',
    port: 0,
    dataDir: '.rowcall',
    ownerKey: OWNER_KEY,
    ownerKeyNext: undefined,
    timeZone: 'Europe/Oslo',
    allowNets: undefined,
    logLevel: 'info',
    publicUrl: undefined,
    publicContracts: true,
    publicConfirm: true,
    mcpToken: undefined,
    secretKey: undefined,
    functionFolder: undefined,
    payloadDays: 90,
    askDays: 30,
    learn: false,
    lanes: ['default'],
    concurrency: 8,
    embeddings: undefined,
  };
}
