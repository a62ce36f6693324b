import type { EmbeddingSettings } from '@rowcall/config';
import { buildEngine } from '@rowcall/engine';
import type { Log, RowWrite } from '@rowcall/protocol';
import { insertRow, Listener, listRowEmbeddings } from '@rowcall/store';
import { makeRow, type TestStore } from '@rowcall/testing';
import { vi } from 'vitest';
import { buildRowEmbedding } from '../embeddings/build.js';

/** What of a runner's process computes vectors, as its main file puts it together. */
export interface EmbeddingRunner {
  /** Drops the connection for notifications, as a broken network would. */
  readonly drop: () => void;
  /** Whether the process knows the row's text. */
  readonly contentOf: (key: string) => string | undefined;
  end(): Promise<void>;
}

/** Starts it on a database, with the first wait after a failure of a few ms. */
export async function startEmbeddingRunner(
  databaseUrl: string,
  { settings, log }: { settings: EmbeddingSettings; log: Log },
): Promise<EmbeddingRunner> {
  const name = 'test-embedding-runner';
  const parts = buildEngine({
    databaseUrl,
    name,
    log,
    version: '0.0.0',
    allowNets: undefined,
    timeZone: 'UTC',
    readCredential: () => undefined,
    secretKey: undefined,
  });
  const { store, catalogue } = parts;
  const rowEmbedding = buildRowEmbedding(settings, { store, catalogue, log, retryFirstMs: 4 });
  const subscriptions = [...parts.subscriptions, ...rowEmbedding.subscriptions];
  const listener = new Listener({ url: databaseUrl, name, log, subscriptions });
  await listener.start();
  return {
    drop: () => listener.drop(),
    contentOf: (key) => catalogue.find(key)?.row.content,
    async end() {
      await rowEmbedding.stop();
      await parts.drain(0);
      await listener.stop();
      await store.close();
    },
  };
}

/** Adds a row of which only its key and WHAT count. */
export async function insertText(
  { store }: TestStore,
  key: string,
  what: string,
  columns: Partial<RowWrite> = {},
): Promise<void> {
  const row = makeRow({ ...columns, key, content: `# WHAT: ${what}` });
  await insertRow(store.db, row, { actor: 'owner', fingerprint: 'f' });
}

/** Keys that have a stored vector of the model. */
export async function listEmbedded({ store }: TestStore, model: string): Promise<string[]> {
  return (await listRowEmbeddings(store.db, model, { after: '', limit: 1_000 })).map(({ key }) => key);
}

/** Waits until an assertion holds. */
export const until = (assertion: () => unknown): Promise<unknown> =>
  vi.waitFor(assertion, { timeout: 15_000, interval: 5 });
