import { randomUUID } from 'node:crypto';
import { isJsonObject, type Log, parseJson } from '@rowcall/protocol';
import {
  claimOauthToken,
  findOauthToken,
  type OauthTokenKey,
  releaseOauthToken,
  type Store,
  type StoredOauthToken,
  saveOauthToken,
} from '@rowcall/store';
import { Sealer } from '../seal.js';
import { type OauthSettings, toConfigHash } from './settings.js';

/** How long, in ms, one process alone may ask the provider. What a process that dies in the middle costs. */
export const LEASE_MS = 30_000;

/** What a provider issued. */
export interface IssuedToken {
  readonly accessToken: string;
  /** The newest refresh token; null for client credentials. */
  readonly refreshToken: string | null;
  /** Epoch milliseconds; null when the provider named no end. */
  readonly expiresAt: number | null;
}

/** A token with its place in the order of tokens. */
export interface KeptToken {
  /** Undefined: none was stored, or what was stored cannot be read. */
  readonly token: IssuedToken | undefined;
  readonly generation: number;
}

/** Where tokens outlive a process and are shared with the others. */
export interface TokenVault {
  readonly keepsTokens: boolean;
  find(settings: OauthSettings): Promise<KeptToken | undefined>;
  /** Takes the right to ask the provider, for {@link LEASE_MS}. @returns undefined while another process has it. */
  claim(settings: OauthSettings): Promise<KeptToken | undefined>;
  /** Stores a token in the place of that of `generation`. @returns false when another was stored meanwhile. */
  save(settings: OauthSettings, token: IssuedToken, generation: number): Promise<boolean>;
  release(settings: OauthSettings): Promise<void>;
}

/** Keeps nothing: every process asks for its own tokens. */
export const NO_VAULT: TokenVault = {
  keepsTokens: false,
  find: async () => undefined,
  claim: async () => ({ token: undefined, generation: 0 }),
  save: async () => true,
  release: async () => undefined,
};

/** What {@link PostgresVault} needs. */
export interface PostgresVaultOptions {
  readonly db: Store['db'];
  /** ROWCALL_SECRET_KEY, the same for all processes. */
  readonly secretKey: string;
  readonly log: Log;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** Tokens in the table `oauth_token`, encrypted. */
export class PostgresVault implements TokenVault {
  readonly keepsTokens = true;
  readonly #options: PostgresVaultOptions;
  readonly #sealer: Sealer;
  readonly #owner = randomUUID();

  constructor(options: PostgresVaultOptions) {
    this.#options = options;
    this.#sealer = new Sealer(options.secretKey, 'oauth_token');
  }

  async find(settings: OauthSettings): Promise<KeptToken | undefined> {
    const key = toKey(settings);
    return this.#toKept(key, await findOauthToken(this.#options.db, key));
  }

  async claim(settings: OauthSettings): Promise<KeptToken | undefined> {
    const key = toKey(settings);
    const lease = { owner: this.#owner, leaseMs: LEASE_MS };
    return this.#toKept(key, await claimOauthToken(this.#options.db, key, lease));
  }

  save(settings: OauthSettings, token: IssuedToken, generation: number): Promise<boolean> {
    const key = toKey(settings);
    const { accessToken, refreshToken, expiresAt } = token;
    const sealed = this.#sealer.seal(JSON.stringify({ accessToken, refreshToken }), toPlace(key));
    const expiresInMs = expiresAt === null ? null : expiresAt - this.#options.now();
    return saveOauthToken(this.#options.db, key, { sealed, expiresInMs, generation, owner: this.#owner });
  }

  release(settings: OauthSettings): Promise<void> {
    return releaseOauthToken(this.#options.db, toKey(settings), this.#owner);
  }

  #toKept(key: OauthTokenKey, stored: StoredOauthToken | undefined): KeptToken | undefined {
    if (stored === undefined) return undefined;
    const { sealed, expiresInMs, generation } = stored;
    if (sealed === null) return { token: undefined, generation };
    const secrets = toSecrets(this.#sealer.open(sealed, toPlace(key)));
    if (secrets === undefined) {
      const facts = { label: key.label };
      this.#options.log.warn(facts, 'a stored oauth token does not open with this ROWCALL_SECRET_KEY; it is got anew');
      return { token: undefined, generation };
    }
    const expiresAt = expiresInMs === null ? null : this.#options.now() + expiresInMs;
    return { token: { ...secrets, expiresAt }, generation };
  }
}

const toKey = (settings: OauthSettings): OauthTokenKey => ({
  label: settings.prefix,
  configHash: toConfigHash(settings),
});

const toPlace = ({ label, configHash }: OauthTokenKey): string => JSON.stringify(['oauth_token', label, configHash]);

function toSecrets(text: string | undefined): Pick<IssuedToken, 'accessToken' | 'refreshToken'> | undefined {
  const value = text === undefined ? undefined : parseJson(text);
  if (!isJsonObject(value) || typeof value.accessToken !== 'string') return undefined;
  const { accessToken, refreshToken } = value;
  return { accessToken, refreshToken: typeof refreshToken === 'string' ? refreshToken : null };
}
