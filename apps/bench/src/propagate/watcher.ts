import { Catalogue } from '@rowcall/catalogue';
import type { StoredRow } from '@rowcall/store';
import { startCatalogue } from '../catalogue.js';

/** A catalogue that notes when it takes a row: to the microsecond, and without a request that asks for it. */
class TimedCatalogue extends Catalogue {
  readonly seenAt = new Map<string, number>();

  override apply(stored: StoredRow): void {
    super.apply(stored);
    const name = `${stored.row.key} ${stored.row.version}`;
    if (!this.seenAt.has(name)) this.seenAt.set(name, performance.now());
  }
}

/** A catalogue of this process, kept up to date in the way that every process keeps its own. */
export interface Watcher {
  /** Version of a row now. @throws Error for an unknown key. */
  versionOf(key: string): number;
  /** When, on the clock of `performance.now()`, the version was taken; undefined while it was not. */
  seenAt(key: string, version: number): number | undefined;
  stop(): Promise<void>;
}

/** Loads a catalogue and listens for changes. */
export async function startWatcher(url: string): Promise<Watcher> {
  const { catalogue, stop } = await startCatalogue(url, (options) => new TimedCatalogue(options));
  return {
    versionOf(key) {
      const entry = catalogue.find(key);
      if (entry === undefined) throw new Error(`no row has the key ${key}`);
      return entry.row.version;
    },
    seenAt: (key, version) => catalogue.seenAt.get(`${key} ${version}`),
    stop,
  };
}
