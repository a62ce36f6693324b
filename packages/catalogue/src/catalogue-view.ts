import type { Hit, SearchOptions } from '@rowcall/resolver';
import type { Catalogue } from './catalogue.js';
import { type Counts, countRows } from './counts.js';
import type { Entry } from './entry.js';

/** What readers of a catalogue see of it: all of it, or the part that one caller may know of. */
export type CatalogueReading = Pick<
  Catalogue,
  'find' | 'list' | 'registry' | 'counts' | 'search' | 'nearest' | 'staleSince'
>;

/** The part of a catalogue whose entries pass one predicate: whatever reads it can show no other. */
export class CatalogueView implements CatalogueReading {
  readonly #catalogue: CatalogueReading;
  readonly #isShown: (entry: Entry) => boolean;

  constructor(catalogue: CatalogueReading, isShown: (entry: Entry) => boolean) {
    this.#catalogue = catalogue;
    this.#isShown = isShown;
  }

  get staleSince(): number | undefined {
    return this.#catalogue.staleSince;
  }

  get registry(): readonly Entry[] {
    return this.#catalogue.registry.filter(this.#isShown);
  }

  get counts(): Counts {
    return countRows(this.#rows());
  }

  *#rows() {
    for (const { row } of this.list()) yield row;
  }

  *list(): Iterable<Entry> {
    for (const entry of this.#catalogue.list()) if (this.#isShown(entry)) yield entry;
  }

  find(key: string): Entry | undefined {
    const entry = this.#catalogue.find(key);
    return entry !== undefined && this.#isShown(entry) ? entry : undefined;
  }

  search(question: string, { limit, filter }: SearchOptions): Hit[] {
    const isShown = (key: string): boolean => this.find(key) !== undefined;
    return this.#catalogue.search(question, {
      limit,
      filter: filter === undefined ? isShown : (key) => isShown(key) && filter(key),
    });
  }

  nearest(key: string, limit: number, isShown: (entry: Entry) => boolean = () => true): string[] {
    return this.#catalogue.nearest(key, limit, (entry) => this.#isShown(entry) && isShown(entry));
  }
}
