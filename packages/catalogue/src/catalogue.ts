import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Effect, Log } from '@rowcall/protocol';
import { nearestKeys, type Ranking, Resolver, type SearchOptions } from '@rowcall/resolver';
import {
  type LearnedPair,
  listDeletions,
  listRows,
  listRowVersions,
  type Store,
  type StoredRow,
  type Subscription,
} from '@rowcall/store';
import { toCapabilityDocument } from './capability-document.js';
import { type Counts, countRows, isInRegistry, isProjected } from './counts.js';
import { Entry, type EntryContext, type HeldRow } from './entry.js';
import { SharedTexts } from './shared-texts.js';

/** Channel that the directory's trigger notifies; the payload is `KEY version`. */
const CHANNEL = 'rowcall_directory';
/** Rows that are read in one query, so that a great change does not hold the process up. */
const READ_BATCH = 500;
const RETRY_MS = 100;
/** How long, in ms, taking rows may hold the process up; then whoever waits has a turn. */
const TURN_MS = 10;

/** What a {@link Catalogue} needs. */
export interface CatalogueOptions {
  readonly store: Store;
  readonly log: Log;
  /** Effect that a function declares; undefined for one this process does not have. */
  readonly functionEffect: (name: string) => Effect | undefined;
  readonly sha256: (text: string) => string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * All rows in memory, with their search index. Loaded once, then changed by notifications from the database. A row is
 * never put back to an older version, and after a lost connection the versions are compared anew.
 */
export class Catalogue {
  readonly #options: CatalogueOptions;
  readonly #context: EntryContext;
  readonly #entries = new Map<string, Entry>();
  /** Version at which each key was deleted that has no entry. */
  readonly #deletions = new Map<string, number>();
  readonly #resolver = new Resolver();
  /** Keys to read, with the version that was announced. */
  readonly #pending = new Map<string, number>();
  #reading: Promise<void> | undefined;
  #staleSince: number | undefined;
  readonly #freshWaiters = new Set<() => void>();
  readonly #watchers = new Set<(key: string) => void>();
  #stopped = false;
  #learned: readonly LearnedPair[] = [];
  #revision = 0;
  readonly #categories = new Map<string, number>();
  #counts: { revision: number; counts: Counts } | undefined;
  #registry: { revision: number; entries: readonly Entry[] } | undefined;

  constructor(options: CatalogueOptions) {
    this.#options = options;
    this.#staleSince = options.now();
    const { functionEffect, sha256 } = options;
    this.#context = { functionEffect, sha256, find: (key) => this.#entries.get(key), texts: new SharedTexts() };
  }

  /** What the process's listener has to deliver here. */
  get subscription(): Subscription {
    return {
      channel: CHANNEL,
      onNotification: (payload) => this.#announce(payload),
      onConnected: () => this.#synchronise(),
      onLost: () => {
        this.#staleSince ??= this.#options.now();
      },
    };
  }

  /** Goes up by one at every change, so that what is derived from all rows can be kept. */
  get revision(): number {
    return this.#revision;
  }

  /** Since when, in ms since 1970, changes may have been missed; undefined when none can be. */
  get staleSince(): number | undefined {
    return this.#staleSince;
  }

  /** The four counts. */
  get counts(): Counts {
    if (this.#counts?.revision !== this.#revision) {
      this.#counts = { revision: this.#revision, counts: countRows(this.#rows()) };
    }
    return this.#counts.counts;
  }

  /** Rows of the registry by category. */
  get categories(): ReadonlyMap<string, number> {
    return this.#categories;
  }

  /** Entries of the registry, by category, `seq` and key. */
  get registry(): readonly Entry[] {
    if (this.#registry?.revision !== this.#revision) {
      const entries = [...this.#entries.values()].filter(({ row }) => isInRegistry(row)).sort(compareEntries);
      this.#registry = { revision: this.#revision, entries };
    }
    return this.#registry.entries;
  }

  /** The entry of a key, enabled or not. */
  find(key: string): Entry | undefined {
    return this.#entries.get(key);
  }

  /** All entries, in no order. */
  list(): Iterable<Entry> {
    return this.#entries.values();
  }

  /** Calls `watcher` with the key of every row that is taken from now on, the first load included; not of deletions. */
  watch(watcher: (key: string) => void): void {
    this.#watchers.add(watcher);
  }

  /** Projected rows that have a vector. */
  get embedded(): number {
    return this.#resolver.embedded;
  }

  /**
   * Gives a projected row the vector of its text, or takes it away. A row that changes loses it at once.
   * @returns false for a row that search does not show, and for a vector of other dimensions than the rest.
   */
  setEmbedding(key: string, vector: Int8Array | undefined): boolean {
    return this.#resolver.setEmbedding(key, vector);
  }

  /** Ranks the projected rows for a question. */
  search(question: string, options: SearchOptions): Ranking {
    return this.#resolver.search(question, options);
  }

  /** Which questions led to calls of which rows, the most frequent first; none unless somebody says. */
  get learned(): readonly LearnedPair[] {
    return this.#learned;
  }

  /** Takes what calls taught, in the place of what it knew. */
  async setLearned(pairs: readonly LearnedPair[]): Promise<void> {
    await this.#resolver.setLearned(pairs, nextTurn);
    this.#learned = pairs;
  }

  /** Keys of the registry that were probably meant by one that no row has, of those that `isShown`. */
  nearest(key: string, limit: number, isShown: (entry: Entry) => boolean = () => true): string[] {
    const keys = this.registry.filter(isShown).map(({ row }) => row.key);
    return nearestKeys(key, keys, limit);
  }

  /** @returns true as soon as no change can have been missed; false when that takes longer than `timeoutMs`. */
  async whenFresh(timeoutMs: number): Promise<boolean> {
    if (this.#staleSince === undefined) return true;
    return new Promise((resolve) => {
      const settle = (fresh: boolean) => {
        clearTimeout(timer);
        this.#freshWaiters.delete(wake);
        resolve(fresh);
      };
      const wake = () => settle(true);
      const timer = setTimeout(() => settle(false), timeoutMs);
      this.#freshWaiters.add(wake);
    });
  }

  /**
   * Reads one row when this process may not have it at `version` or newer: a call can reach a process before the
   * notification of the row that it calls. @throws what the database throws.
   */
  async ensure(key: string, version: number): Promise<void> {
    if (this.#staleSince === undefined && this.#versionOf(key) >= version) return;
    const { db } = this.#options.store;
    const stored = await listRows(db, [key]);
    for (const row of stored) this.apply(row);
    if (stored.length > 0) return;
    for (const deletion of await listDeletions(db, [key])) this.applyDeletion(key, deletion.version);
  }

  /** Gives up reading what is announced. What is in memory stays. */
  stop(): void {
    this.#stopped = true;
  }

  /** Takes a row that this process has just written, without waiting for the notification. */
  apply({ row }: StoredRow): void {
    if (row.version <= this.#versionOf(row.key)) return;
    this.#deletions.delete(row.key);
    const entry = new Entry(row, this.#context);
    this.#countCategory(this.#entries.get(row.key)?.row, -1);
    this.#entries.set(row.key, entry);
    this.#countCategory(entry.row, 1);
    if (isProjected(row)) this.#resolver.upsert(toCapabilityDocument(row));
    else this.#resolver.remove(row.key);
    this.#revision += 1;
    for (const watcher of this.#watchers) watcher(row.key);
  }

  /** Takes many rows, and lets others have their turn meanwhile: a row of great texts takes many ms. */
  async applyAll(rows: readonly StoredRow[]): Promise<void> {
    let turnEnds = performance.now() + TURN_MS;
    for (const row of rows) {
      this.apply(row);
      if (performance.now() < turnEnds) continue;
      await nextTurn();
      turnEnds = performance.now() + TURN_MS;
    }
  }

  /**
   * Computes anew what rows derive from functions that came, went or have another effect: their effect and fingerprint.
   * @param names of those functions.
   */
  refreshFunctions(names: ReadonlySet<string>): void {
    if (names.size === 0) return;
    for (const [key, entry] of this.#entries) {
      if (entry.row.type !== 'fn' || !names.has(entry.row.target)) continue;
      this.#entries.set(key, new Entry(entry.toRow(), this.#context));
      this.#revision += 1;
    }
  }

  /** Takes a deletion; `version` is the version of the deletion. */
  applyDeletion(key: string, version: number): void {
    if (version <= this.#versionOf(key)) return;
    this.#deletions.set(key, version);
    this.#countCategory(this.#entries.get(key)?.row, -1);
    if (!this.#entries.delete(key)) return;
    this.#resolver.remove(key);
    this.#revision += 1;
  }

  #countCategory(row: HeldRow | undefined, change: 1 | -1): void {
    if (row === undefined || !isInRegistry(row)) return;
    const rows = (this.#categories.get(row.category) ?? 0) + change;
    if (rows === 0) this.#categories.delete(row.category);
    else this.#categories.set(row.category, rows);
  }

  /** Newest version seen of a key, its deletion included; 0 for one that was never seen. */
  #versionOf(key: string): number {
    return this.#entries.get(key)?.row.version ?? this.#deletions.get(key) ?? 0;
  }

  *#rows(): Iterable<HeldRow> {
    for (const { row } of this.#entries.values()) yield row;
  }

  #announce(payload: string): void {
    const [key = '', version = ''] = payload.split(' ');
    const announced = Number(version);
    if (announced <= this.#versionOf(key)) return;
    this.#pending.set(key, Math.max(announced, this.#pending.get(key) ?? 0));
    this.#reading ??= this.#readPending().finally(() => {
      this.#reading = undefined;
    });
  }

  /** Reads announced rows, those that came in meanwhile together, until none is left. */
  async #readPending(): Promise<void> {
    while (this.#pending.size > 0 && !this.#stopped) {
      const batch = [...this.#pending].slice(0, READ_BATCH);
      const stored = await this.#tryRead(batch.map(([key]) => key));
      if (stored === undefined) {
        await sleep(RETRY_MS);
        continue;
      }
      const found = new Set(stored.map(({ row }) => row.key));
      await this.applyAll(stored);
      for (const [key, version] of batch) {
        if (this.#pending.get(key) === version) this.#pending.delete(key);
        if (!found.has(key)) this.applyDeletion(key, version);
      }
    }
  }

  async #tryRead(keys: readonly string[]): Promise<StoredRow[] | undefined> {
    try {
      return await listRows(this.#options.store.db, keys);
    } catch (error) {
      this.#options.log.warn({ err: error, rows: keys.length }, 'changed rows cannot be read yet');
      return undefined;
    }
  }

  async #synchronise(): Promise<void> {
    if (this.#entries.size === 0 && this.#deletions.size === 0) {
      await this.applyAll(await listRows(this.#options.store.db));
    } else {
      await this.#catchUp();
    }
    this.#staleSince = undefined;
    for (const wake of this.#freshWaiters) wake();
  }

  /** Compares all versions with the database and reads what differs. Notifications may come in between. */
  async #catchUp(): Promise<void> {
    const { db } = this.#options.store;
    const current = new Map((await listRowVersions(db)).map(({ key, version }) => [key, version]));
    const missing = [...this.#entries.keys()].filter((key) => !current.has(key));
    // By the version of the deletion: a key that was made anew since then is newer and stays.
    for (const { key, version } of await listDeletions(db, missing)) this.applyDeletion(key, version);
    const changed = [...current].filter(([key, version]) => version > this.#versionOf(key));
    for (let start = 0; start < changed.length; start += READ_BATCH) {
      const keys = changed.slice(start, start + READ_BATCH).map(([key]) => key);
      await this.applyAll(await listRows(db, keys));
    }
  }
}

function compareEntries(a: Entry, b: Entry): number {
  const order = (x: string, y: string) => (x < y ? -1 : x > y ? 1 : 0);
  return order(a.row.category, b.row.category) || a.row.seq - b.row.seq || order(a.row.key, b.row.key);
}
