import type { Ranking, SearchOptions } from '@rowcall/resolver';
import type { Catalogue } from './catalogue.js';
import { type Counts, countRows, isInRegistry } from './counts.js';
import type { Entry } from './entry.js';

/** What readers of a catalogue see of it: all of it, or the part that one caller may know of. */
export type CatalogueReading = Pick<
  Catalogue,
  'find' | 'list' | 'registry' | 'counts' | 'categories' | 'search' | 'nearest' | 'staleSince'
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

  get categories(): ReadonlyMap<string, number> {
    const categories = new Map<string, number>();
    for (const { row } of this.list()) {
      if (isInRegistry(row)) categories.set(row.category, (categories.get(row.category) ?? 0) + 1);
    }
    return categories;
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

  search(question: string, { filter, ...options }: SearchOptions): Ranking {
    const isShown = (key: string): boolean => this.find(key) !== undefined;
    return this.#catalogue.search(question, {
      ...options,
      filter: filter === undefined ? isShown : (key) => isShown(key) && filter(key),
    });
  }

  nearest(key: string, limit: number, isShown: (entry: Entry) => boolean = () => true): string[] {
    return this.#catalogue.nearest(key, limit, (entry) => this.#isShown(entry) && isShown(entry));
  }
}
