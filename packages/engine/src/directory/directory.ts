import { type Catalogue, type CatalogueReading, CatalogueView, type Entry } from '@rowcall/catalogue';
import { AppError } from '@rowcall/errors';
import { KEY_PATTERN, type Row, type RowPatch, type RowWrite } from '@rowcall/protocol';
import {
  type Authorship,
  deleteRow,
  insertRow,
  type RowChange,
  type Store,
  type StoredRow,
  updateRow,
} from '@rowcall/store';
import type { FunctionRegistry } from '../functions/registry.js';
import { keepArgumentOrder, toRowChange } from './row-change.js';

/** Who changes a row, why, and which version they saw. */
export interface ChangeAuthor extends Authorship {
  /** Version that the row must have; any when not given. */
  readonly ifVersion?: number | undefined;
}

/** What a {@link Directory} works on. */
export interface DirectoryOptions {
  readonly store: Pick<Store, 'db'>;
  readonly catalogue: Catalogue;
  readonly functions: FunctionRegistry;
}

/** A row that a search found. */
export interface Found {
  readonly entry: Entry;
  readonly score: number;
}

/** Tells which rows a caller may know of. */
export type IsShown = (entry: Entry) => boolean;

const SUGGESTIONS_MAX = 6;

/**
 * The one way in which rows are read and changed one by one, whoever asks: the REST addresses and the functions `DIR_*`.
 * Every change passes hygiene, and is in this process's catalogue when it returns. It asks nobody for authority: that is
 * decided before, at the entrance.
 */
export class Directory {
  readonly #options: DirectoryOptions;

  constructor(options: DirectoryOptions) {
    this.#options = options;
  }

  /** The entry of a key, of those that are shown. @throws AppError unknown_key with the keys that were probably meant. */
  get(key: string, isShown?: IsShown): Entry {
    const entry = this.#view(isShown).find(key);
    if (entry === undefined) throw this.unknownKey(key, isShown);
    return entry;
  }

  /** Rows that planners see and that fit a question, best first. */
  search(question: string, limit: number, isShown?: IsShown): Found[] {
    const rows = this.#view(isShown);
    return rows.search(question, { limit }).hits.flatMap(({ key, score }) => {
      const entry = rows.find(key);
      return entry === undefined ? [] : [{ entry, score: Math.round(score * 1_000) / 1_000 }];
    });
  }

  /** Says that no row has the key, and which keys were probably meant. */
  unknownKey(key: string, isShown?: IsShown): AppError {
    const didYouMean = this.#view(isShown).nearest(key, SUGGESTIONS_MAX);
    return new AppError('unknown_key', `no row has the key ${JSON.stringify(key)}`, {
      details: { did_you_mean: didYouMean },
    });
  }

  /** The rows that are shown; all of them where nothing is said. */
  #view(isShown: IsShown | undefined): CatalogueReading {
    const { catalogue } = this.#options;
    return isShown === undefined ? catalogue : new CatalogueView(catalogue, isShown);
  }

  /**
   * The row as it would be stored, with its fingerprint.
   * @param stored the row that it changes, whose violations may stay. @throws AppError hygiene_refused.
   */
  toChange(row: RowWrite, stored?: RowWrite): RowChange {
    return toRowChange(this.#options, row, stored);
  }

  /** Adds a row. @throws AppError hygiene_refused, key_exists, invalid_row. */
  async add(write: RowWrite, author: Authorship): Promise<Row> {
    const { row, fingerprint } = this.toChange(keepArgumentOrder(write));
    return this.#take(await insertRow(this.#options.store.db, row, { ...author, fingerprint }));
  }

  /** Puts a whole row in place of the one of the same key. @throws AppError as {@link Directory.patch}. */
  replace(write: RowWrite, author: ChangeAuthor): Promise<Row> {
    const row = keepArgumentOrder(write);
    return this.#update(row.key, author, () => this.toChange(row));
  }

  /**
   * Changes some columns; refuses only what the stored row did not break already.
   * @throws AppError unknown_key, version_mismatch, hygiene_refused, invalid_row.
   */
  patch(key: string, columns: RowPatch, author: ChangeAuthor): Promise<Row> {
    const patch = keepArgumentOrder(columns);
    return this.#update(key, author, (stored) => this.toChange({ ...toRowWrite(stored), ...patch }, stored));
  }

  /** Deletes a row; its history and receipts stay. @returns the version of the deletion. @throws AppError as {@link Directory.patch}. */
  async remove(key: string, author: ChangeAuthor): Promise<number> {
    const { store, catalogue } = this.#options;
    const version = await this.#withKey(key, () => deleteRow(store.db, key, author));
    catalogue.applyDeletion(key, version);
    return version;
  }

  async #update(key: string, author: ChangeAuthor, change: (stored: Row) => RowChange): Promise<Row> {
    const { db } = this.#options.store;
    return this.#take(await this.#withKey(key, () => updateRow(db, key, { ...author, change })));
  }

  /** What cannot be a key is an unknown one. */
  async #withKey<T>(key: string, work: () => Promise<T>): Promise<T> {
    if (!KEY_PATTERN.test(key)) throw this.unknownKey(key);
    try {
      return await work();
    } catch (error) {
      throw error instanceof AppError && error.code === 'unknown_key' ? this.unknownKey(key) : error;
    }
  }

  #take(stored: StoredRow): Row {
    this.#options.catalogue.apply(stored);
    return stored.row;
  }
}

/** The columns of a row that a writer sets. */
export function toRowWrite(row: Row): RowWrite {
  const { version: _version, created_at: _createdAt, updated_at: _updatedAt, ...columns } = row;
  return columns;
}
