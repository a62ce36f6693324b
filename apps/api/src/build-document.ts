import type { ServerConfig } from '@rowcall/process';
import { silentLog } from '@rowcall/protocol';
import { pino } from 'pino';
import { buildApp } from './app.js';
import { buildContext } from './context.js';

/** What the document depends on is the code alone: nothing connects to this. */
const CONFIG: ServerConfig = {
  databaseUrl: 'postgres://127.0.0.1/none',
  host: '127.0.0.1',
  port: 0,
  dataDir: '',
  ownerKey: undefined,
  ownerKeyNext: undefined,
  timeZone: 'UTC',
  allowNets: [],
  logLevel: 'silent',
  publicUrl: undefined,
  publicContracts: true,
  publicConfirm: true,
  mcpToken: undefined,
  secretKey: undefined,
  functionFolder: undefined,
  payloadDays: 0,
  askDays: 0,
  learn: false,
  lanes: [],
  concurrency: 1,
  embeddings: undefined,
};

/** The OpenAPI document of all routes, without a database and without a port. */
export async function buildDocument(version: string): Promise<object> {
  const context = buildContext(CONFIG, {
    log: silentLog,
    isOwnerKey: () => false,
    readCredential: () => undefined,
    version,
    baseUrl: () => '',
  });
  const app = await buildApp(context, { log: pino({ level: 'silent' }), version });
  await app.ready();
  const document = app.swagger();
  await app.close();
  await context.stop();
  return document;
}
