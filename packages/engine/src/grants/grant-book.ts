import type { Chain } from '@rowcall/grants';
import { hashToken } from '@rowcall/grants';
import { findGrantChain, GRANT_CHANNEL, type GrantName, type Store, type Subscription } from '@rowcall/store';

/** Chains that are remembered; the ones that were used longest ago go first. */
const CHAINS_MAX = 10_000;

/**
 * The grants that callers present, remembered by the hash of their token: a call needs no query to know what its grant
 * allows. A revocation is notified, and what might be stale is forgotten.
 */
export class GrantBook {
  readonly #store: Store;
  readonly #chains = new Map<string, Chain>();
  /** Goes up when something is forgotten: what was read before that is not remembered. */
  #revision = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  /** What the process's listener has to deliver here. */
  get subscription(): Subscription {
    return {
      channel: GRANT_CHANNEL,
      onNotification: (fingerprint) => this.forget(fingerprint),
      onConnected: async () => {
        this.#revision += 1;
        this.#chains.clear();
      },
    };
  }

  /** The grant of a token and those that it derives from, the owner's first; undefined when the token is of none. */
  findByToken(token: string): Chain | undefined | Promise<Chain | undefined> {
    const tokenHash = hashToken(token);
    return this.#remembered(tokenHash) ?? this.#read(tokenHash, { tokenHash });
  }

  /** The same by the fingerprint of the grant. */
  find(fingerprint: string): Chain | undefined | Promise<Chain | undefined> {
    return this.#remembered(fingerprint) ?? this.#read(fingerprint, { fingerprint });
  }

  #remembered(name: string): Chain | undefined {
    const chain = this.#chains.get(name);
    if (chain === undefined) return undefined;
    this.#chains.delete(name);
    this.#chains.set(name, chain);
    return chain;
  }

  async #read(name: string, by: GrantName): Promise<Chain | undefined> {
    const revision = this.#revision;
    const chain = (await findGrantChain(this.#store.db, by)).map(({ grant }) => grant);
    if (chain.length === 0) return undefined;
    if (revision === this.#revision) this.#remember(name, chain);
    return chain;
  }

  #remember(name: string, chain: Chain): void {
    this.#chains.set(name, chain);
    const [oldest] = this.#chains.size > CHAINS_MAX ? this.#chains.keys() : [];
    if (oldest !== undefined) this.#chains.delete(oldest);
  }

  /** Forgets a grant and all that derive from it: what is known of them is read anew. */
  forget(fingerprint: string): void {
    this.#revision += 1;
    for (const [name, chain] of this.#chains) {
      if (chain.some((grant) => grant.fingerprint === fingerprint)) this.#chains.delete(name);
    }
  }
}
