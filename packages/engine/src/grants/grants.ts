import { randomBytes } from 'node:crypto';
import type { Catalogue } from '@rowcall/catalogue';
import { AppError } from '@rowcall/errors';
import {
  type Chain,
  describeGrant,
  explain,
  type Grant,
  type GrantDescription,
  type GrantUse,
  hashToken,
  mint,
  narrow,
  toGrantFingerprint,
  toState,
  toToken,
} from '@rowcall/grants';
import type { AttenuateBody, GrantExplanation, GrantState, MintBody } from '@rowcall/protocol';
import { findGrantChain, insertEvent, insertGrant, listGrants, revokeGrant, type Store } from '@rowcall/store';
import type { ReceiptRedactor } from '../receipt-redactor.js';
import type { GrantBook } from './grant-book.js';

const TOKEN_BYTES = 32;

/** Who asks for something about grants. An empty chain is the owner. */
export interface GrantCaller {
  readonly actor: string;
  readonly chain: Chain;
}

/** A new grant, and the token that is shown this once. */
export interface MintedGrant {
  readonly token: string;
  readonly grant: GrantDescription;
}

/** A grant in a list. */
export interface ListedGrant extends GrantDescription {
  readonly state: GrantState;
  /** RFC 3339. */
  readonly revoked_at: string | null;
  /** Calls so far; counted where a limit needs it. */
  readonly uses: number;
  readonly spent_usd: number;
}

/** What {@link Grants} work with. */
export interface GrantsOptions {
  readonly store: Store;
  readonly catalogue: Catalogue;
  readonly book: GrantBook;
  readonly redactor: ReceiptRedactor;
  readonly now: () => number;
}

/** Makes, explains and ends grants. */
export class Grants {
  readonly #store: Store;
  readonly #catalogue: Catalogue;
  readonly #book: GrantBook;
  readonly #redactor: ReceiptRedactor;
  readonly #now: () => number;

  constructor({ store, catalogue, book, redactor, now }: GrantsOptions) {
    this.#store = store;
    this.#catalogue = catalogue;
    this.#book = book;
    this.#redactor = redactor;
    this.#now = now;
  }

  /** Makes a grant of the owner's. @throws AppError unknown_key, invalid_args. */
  mint(body: MintBody, by: GrantCaller, reason: string | null): Promise<MintedGrant> {
    if (by.chain.length > 0) throw new Error('a holder derives, the owner mints');
    return this.#insert((context) => mint(body, context), by, reason);
  }

  /** Makes a grant that is narrower than the caller's. @throws AppError grant_wider, grant_too_deep, and as `mint`. */
  attenuate(body: AttenuateBody, by: GrantCaller, reason: string | null): Promise<MintedGrant> {
    return this.#insert((context) => narrow(by.chain, body, context), by, reason);
  }

  async #insert(
    make: (context: { fingerprint: string; now: number; rows: Catalogue }) => Grant,
    by: GrantCaller,
    reason: string | null,
  ): Promise<MintedGrant> {
    const token = toToken(randomBytes(TOKEN_BYTES));
    const tokenHash = hashToken(token);
    const made = make({ fingerprint: toGrantFingerprint(tokenHash), now: this.#now(), rows: this.#catalogue });
    const grant = { ...made, purpose: this.#toNote(made.purpose) ?? '', actor: this.#toNote(made.actor) };
    await insertGrant(this.#store.db, { grant, tokenHash, createdBy: by.actor, reason: this.#toNote(reason) });
    return { token, grant: describeGrant(grant) };
  }

  /** What is said beside the terms is kept and shown for good, so that a secret in it is not. */
  #toNote(text: string | null): string | null {
    return text === null ? null : this.#redactor.current.text(text);
  }

  /**
   * Tells what a grant may do now and what is left of it, and writes the event `GRANT_EXPLAIN`.
   * @throws AppError unknown_grant, also for a grant that is not the caller's own and does not derive from it.
   */
  async explain(fingerprint: string, by: GrantCaller): Promise<GrantExplanation> {
    const uses = await this.#getChain(fingerprint, by);
    await insertEvent(this.#store.db, { kind: 'GRANT_EXPLAIN', actor: by.actor, detail: { grant: fingerprint } });
    return explain(uses, { now: this.#now(), rows: this.#catalogue });
  }

  /** Grants of the caller's and those that derive from them, newest first; of the owner, all. */
  async list(by: GrantCaller, page: { limit: number; before?: string | undefined }): Promise<ListedGrant[]> {
    const within = by.chain.at(-1)?.fingerprint;
    const chains = await listGrants(this.#store.db, { ...page, within });
    return chains.flatMap((chain) => this.#toListed(chain));
  }

  /** A grant that derives from others ends with them, so that its state is theirs as well. */
  #toListed(chain: readonly GrantUse[]): ListedGrant[] {
    const own = chain.at(-1);
    if (own === undefined) return [];
    const { grant, uses, spent_usd } = own;
    const revoked = grant.revoked_at === null ? null : new Date(grant.revoked_at).toISOString();
    return [{ ...describeGrant(grant), state: toState(chain, this.#now()), revoked_at: revoked, uses, spent_usd }];
  }

  /** Revokes a grant and all that derive from it. @returns when; RFC 3339. @throws AppError unknown_grant. */
  async revoke(fingerprint: string, by: GrantCaller, reason: string | null): Promise<string> {
    await this.#getChain(fingerprint, by);
    const at = await revokeGrant(this.#store.db, fingerprint, { actor: by.actor, reason: this.#toNote(reason) });
    if (at === undefined) throw toUnknown(fingerprint);
    // Others are notified; here it holds before the answer leaves.
    this.#book.forget(fingerprint);
    return at.toISOString();
  }

  /** The chain of a grant that the caller may know of. */
  async #getChain(fingerprint: string, { chain }: GrantCaller): Promise<GrantUse[]> {
    const uses = await findGrantChain(this.#store.db, { fingerprint });
    const own = chain.at(-1)?.fingerprint;
    const isOwn = own === undefined || uses.some(({ grant }) => grant.fingerprint === own);
    if (uses.length === 0 || !isOwn) throw toUnknown(fingerprint);
    return uses;
  }
}

const toUnknown = (fingerprint: string): AppError =>
  new AppError('unknown_grant', `there is no grant ${JSON.stringify(fingerprint.slice(0, 64))}`);
