import type { Catalogue, CatalogueOptions } from '@rowcall/catalogue';
import { silentLog } from '@rowcall/protocol';
import { Listener, openStore } from '@rowcall/store';
import { sha256 } from './load-rows.js';

/** A catalogue of this process, kept up to date in the way that every process keeps its own. */
export interface OwnCatalogue<Kind extends Catalogue> {
  readonly catalogue: Kind;
  stop(): Promise<void>;
}

/** Loads a catalogue and listens for changes. @param make makes the empty one. */
export async function startCatalogue<Kind extends Catalogue = Catalogue>(
  url: string,
  make: (options: CatalogueOptions) => Kind,
): Promise<OwnCatalogue<Kind>> {
  const store = openStore({ url, name: 'rowcall-bench', log: silentLog });
  const functionEffect = () => 'read' as const;
  const catalogue = make({ store, log: silentLog, now: Date.now, sha256, functionEffect });
  const subscriptions = [catalogue.subscription];
  const listener = new Listener({ url, name: 'rowcall-bench', log: silentLog, subscriptions });
  await listener.start();
  return {
    catalogue,
    async stop() {
      await listener.stop();
      await store.close();
    },
  };
}
