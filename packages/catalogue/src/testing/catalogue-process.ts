import { createHash } from 'node:crypto';
import { type RowWrite, silentLog } from '@rowcall/protocol';
import { deleteRow, insertRow, Listener, openStore, type Store } from '@rowcall/store';
import { makeRow, type TestStore, testStore } from '@rowcall/testing';
import { vi } from 'vitest';
import { Catalogue } from '../catalogue.js';

/** A process with a catalogue, and another one that only writes; they meet in Postgres. */
export class CatalogueProcess {
  readonly database: TestStore;
  readonly writer: Store;
  catalogue: Catalogue;
  /** Milliseconds since 1970, as the catalogue sees it. */
  clock = 1_000;
  /** When set, what the catalogue reads is held back until this resolves, though the database has answered. */
  delivery: Promise<void> | undefined;
  /** Reads that the database has answered so far. */
  answered = 0;
  #listener: Listener | undefined;
  #onMarker: (() => void) | undefined;

  private constructor(database: TestStore) {
    this.database = database;
    this.writer = openStore({ url: database.url, name: 'writer', log: silentLog });
    this.catalogue = this.#build();
  }

  static async open(): Promise<CatalogueProcess> {
    return new CatalogueProcess(await testStore());
  }

  /** Begins anew with one row, SEEDED. */
  async begin(): Promise<void> {
    this.clock = 1_000;
    this.delivery = undefined;
    await this.writer.pool.query('delete from directory');
    await this.insert('SEEDED');
    this.catalogue = this.#build();
    await this.listen();
  }

  async end(): Promise<void> {
    await this.deafen();
    this.catalogue.stop();
  }

  async close(): Promise<void> {
    await this.writer.close();
    await this.database.drop();
  }

  async listen(): Promise<void> {
    this.#listener = new Listener({
      url: this.database.url,
      name: 'catalogue',
      log: silentLog,
      subscriptions: [this.catalogue.subscription, { channel: 'marker', onNotification: () => this.#onMarker?.() }],
    });
    await this.#listener.start();
  }

  /** From now on, nothing is heard, and the catalogue does not know it. */
  async deafen(): Promise<void> {
    await this.#listener?.stop();
  }

  /** Lets the process miss what happens between the loss of its connection and the next one. */
  async whileLost(meanwhile: () => Promise<unknown>): Promise<void> {
    await this.deafen();
    this.catalogue.subscription.onLost?.();
    await meanwhile();
    await this.listen();
  }

  /** Waits until all that was notified so far has been delivered: a marker behind it has arrived. */
  async untilDelivered(): Promise<void> {
    const arrived = new Promise<void>((resolve) => {
      this.#onMarker = resolve;
    });
    await this.writer.pool.query(`select pg_notify('marker', '')`);
    await arrived;
  }

  /** Holds back what the catalogue reads. @returns waits until a read is held, and delivers. */
  hold(): { untilHeld: () => Promise<void>; deliver: () => void } {
    let deliver: () => void = () => undefined;
    this.delivery = new Promise((resolve) => {
      deliver = resolve;
    });
    const before = this.answered;
    const untilHeld = () =>
      until(() => {
        if (this.answered === before) throw new Error('nothing was read');
      });
    return { untilHeld, deliver };
  }

  async insert(key: string, columns: Partial<RowWrite> = {}) {
    return await insertRow(this.writer.db, makeRow({ ...columns, key }), { actor: 'owner', fingerprint: 'f' });
  }

  async setSeq(key: string, seq: number): Promise<void> {
    await this.writer.pool.query('update directory set seq = $2 where key = $1', [key, seq]);
  }

  remove(key: string): Promise<number> {
    return deleteRow(this.writer.db, key, { actor: 'owner' });
  }

  versionOf(key: string): number | undefined {
    return this.catalogue.find(key)?.row.version;
  }

  seqOf(key: string): number | undefined {
    return this.catalogue.find(key)?.row.seq;
  }

  search(question: string): string[] {
    return this.catalogue.search(question, { limit: 12 }).hits.map(({ key }) => key);
  }

  #build(): Catalogue {
    const lateDelivery = {
      transformQuery: <T>({ node }: { node: T }) => node,
      transformResult: async <T>({ result }: { result: T }) => {
        this.answered += 1;
        await this.delivery;
        return result;
      },
    };
    const { store } = this.database;
    return new Catalogue({
      store: { ...store, db: store.db.withPlugin(lateDelivery) },
      log: silentLog,
      sha256: (text) => createHash('sha256').update(text).digest('hex'),
      now: () => this.clock,
      functionEffect: (name) => (name === 'ECHO' ? 'read' : undefined),
    });
  }
}

/** Waits until an assertion holds. */
export const until = (assertion: () => void): Promise<void> => vi.waitFor(assertion, { timeout: 5_000, interval: 1 });
