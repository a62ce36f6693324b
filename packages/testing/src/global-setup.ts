import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startEmbeddedPostgres } from '@rowcall/embedded-postgres';
import { silentLog } from '@rowcall/protocol';
import { migrate, openStore } from '@rowcall/store';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { toDatabaseUrl } from './database-url.js';
import { type TestServer, tryDocker } from './docker.js';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Address of a superuser of the server that this run uses. */
    superuserUrl: string;
    /** Database that has the newest schema and no rows; every test file copies it. */
    templateDatabase: string;
  }
}

async function startEmbedded(): Promise<TestServer> {
  const folder = await mkdtemp(path.join(tmpdir(), 'rowcall-test-'));
  const server = await startEmbeddedPostgres({ dir: path.join(folder, 'postgres'), ephemeral: true });
  return {
    superuserUrl: server.superuserUrl,
    what: 'embedded Postgres',
    async stop() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** TEST_DATABASE_URL, else Docker, else the embedded server. */
async function startServer(): Promise<TestServer> {
  const given = process.env.TEST_DATABASE_URL;
  if (given) return { superuserUrl: given, what: 'TEST_DATABASE_URL', stop: async () => undefined };
  const docker = await tryDocker();
  if ('superuserUrl' in docker) return docker;
  const embedded = await startEmbedded();
  return { ...embedded, what: `${embedded.what} (no Docker: ${docker.unavailable})` };
}

/** One server and one migrated template for the whole run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startServer();
  process.stdout.write(`tests use ${server.what}\n`);
  const template = `rowcall_template_${process.pid}`;
  const admin = new pg.Client({ connectionString: server.superuserUrl });
  await admin.connect();
  await admin.query(`create database ${template}`);
  const store = openStore({ url: toDatabaseUrl(server.superuserUrl, template), name: 'template', log: silentLog });
  await migrate(store);
  await store.close();
  project.provide('superuserUrl', server.superuserUrl);
  project.provide('templateDatabase', template);
  return async () => {
    await admin.query(`drop database if exists ${template} with (force)`);
    await admin.end();
    await server.stop();
  };
}
