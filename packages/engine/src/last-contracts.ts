import type { Entry } from '@rowcall/catalogue';

/** Pairs of caller and row that are remembered; the ones that did not change for longest go first. */
const PAIRS_MAX = 10_000;

/** A row's fingerprint at the caller's last call of it, and now. */
export interface ContractChange {
  readonly previous: string;
  readonly current: string;
}

/** A call, and who makes it. */
export interface CallPlace {
  readonly id: string;
  readonly key: string;
  readonly actor: string;
}

/** Reads the fingerprint of the caller's last call of the row before this one from the ledger. */
export type ReadLastContract = (call: CallPlace) => Promise<string | undefined>;

/** Remembers which contract each caller called last, so that a change can be told with the first answer after it. */
export class LastContracts {
  readonly #read: ReadLastContract;
  readonly #fingerprints = new Map<string, string>();

  constructor(read: ReadLastContract) {
    this.#read = read;
  }

  /**
   * The fingerprint of the caller's last call. The ledger is asked only for what is not remembered, of a row that ever
   * changed. Never rejects: a call does not fail for want of this.
   */
  find({ row: { key, version } }: Entry, call: CallPlace): string | undefined | Promise<string | undefined> {
    const known = this.#fingerprints.get(toPair(key, call.actor));
    if (known !== undefined || version === 1) return known;
    return this.#read({ ...call, key }).catch(() => undefined);
  }

  /** Remembers a call. @returns the change since the last one, if there was any. */
  note(key: string, actor: string, { previous, current }: Partial<ContractChange>): ContractChange | null {
    if (current === undefined) return null;
    const pair = toPair(key, actor);
    if (this.#fingerprints.get(pair) !== current) this.#remember(pair, current);
    return previous === undefined || previous === current ? null : { previous, current };
  }

  #remember(pair: string, current: string): void {
    this.#fingerprints.delete(pair);
    this.#fingerprints.set(pair, current);
    const [oldest] = this.#fingerprints.size > PAIRS_MAX ? this.#fingerprints.keys() : [];
    if (oldest !== undefined) this.#fingerprints.delete(oldest);
  }
}

const toPair = (key: string, actor: string): string => `${key} ${actor}`;
