import type { EmbeddingSettings } from '@rowcall/config';
import { EmbeddingClient, toModelName } from '@rowcall/embeddings';
import { sha256 } from '@rowcall/receipts';
import type { Subscription } from '@rowcall/store';
import { RowEmbedder, type RowEmbedderOptions } from './row-embedder.js';

/** What a process of runners does for search by meaning. */
export interface RowEmbedding {
  /** What the process's listener has to deliver, behind what the catalogue gets. */
  readonly subscriptions: readonly Subscription[];
  stop(): Promise<void>;
}

/** Builds what computes the vectors of rows: nothing at all where no service is set. */
export function buildRowEmbedding(
  settings: EmbeddingSettings | undefined,
  options: Pick<RowEmbedderOptions, 'store' | 'catalogue' | 'log' | 'retryFirstMs'>,
): RowEmbedding {
  if (settings === undefined) return { subscriptions: [], stop: async () => undefined };
  const client = new EmbeddingClient(settings, 1);
  const embedder = new RowEmbedder({ ...options, client, sha256, model: toModelName(settings) });
  return {
    subscriptions: [embedder.subscription],
    async stop() {
      await embedder.stop();
      await client.close();
    },
  };
}
