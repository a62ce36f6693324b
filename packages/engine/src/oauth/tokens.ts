import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '@rowcall/protocol';
import { isTransient } from '@rowcall/store';
import type { OauthSettings } from './settings.js';
import { OauthError } from './token-request.js';
import { type IssuedToken, type KeptToken, LEASE_MS, type TokenVault } from './vault.js';

/** A token is renewed this long, in ms, before its end, or a fifth of its life if that is less. */
const AHEAD_MAX_MS = 60_000;
/** It is no longer used this long, in ms, before its end, or a twentieth of its life: a request takes time to arrive. */
const LATE_MAX_MS = 5_000;
/** A stored token with less life, in ms, is not worth taking over. */
const LIFE_MIN_MS = 1_000;
/** How long, in ms, a provider that said no is not asked again. */
const REFUSED_MS = 2_000;
/** An upstream that refuses every token may cost one new token in this time, in ms. */
const RENEW_EVERY_MS = 10_000;
/** How often, in ms, a process looks whether another got the token. */
const LOOK_EVERY_MS = 100;
/** How long, in ms, it looks: longer than one process that dies with the lease. */
const LOOK_MAX_MS = 2 * LEASE_MS;
/** How long, in ms, a token that was got is tried to be stored. Less than the lease has left then. */
const SAVE_PATIENCE_MS = 15_000;

/** What {@link OauthTokens} needs. */
export interface OauthTokensOptions {
  readonly vault: TokenVault;
  /** Asks the provider. @throws OauthError when it gives no token. */
  readonly request: (settings: OauthSettings, refreshToken: string | null, signal: AbortSignal) => Promise<IssuedToken>;
  /** Learns of every token before it is used, so that it can be hidden. */
  readonly onSecret: (prefix: string, value: string) => void;
  readonly log: Log;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

interface Held {
  readonly identity: string;
  readonly token: IssuedToken;
  readonly generation: number;
  /** Epoch milliseconds, both. */
  readonly aheadAt: number;
  readonly lateAt: number;
}

interface Failure {
  readonly identity: string;
  readonly clientSecret: string | null;
  readonly error: unknown;
  /** Epoch milliseconds. */
  readonly failedAt: number;
}

/** Tells whether less than `ms` have passed; a clock that was set back says nothing of how long it has been. */
function isRecent(at: number, ms: number, now: number): boolean {
  return at <= now && now < at + ms;
}

/**
 * The tokens of this process, one for each label, and the way to new ones:
 *
 *     memory ──good──▶ use, without a query
 *       │ none, or near its end
 *       ▼
 *     vault ──newer──▶ memory
 *       │ nothing newer
 *       ▼
 *     lease ──held by another process──▶ wait, look again
 *       │ mine
 *       ▼
 *     provider ──▶ memory, vault (which ends the lease)
 *
 * Within the process one flight at a time takes this way for a label, whoever waits for it.
 */
export class OauthTokens {
  readonly #options: OauthTokensOptions;
  readonly #held = new Map<string, Held>();
  readonly #flights = new Map<string, Promise<IssuedToken>>();
  readonly #failures = new Map<string, Failure>();
  readonly #renewedAt = new Map<string, number>();
  /** Ends the waiting for others, and what is not yet asked. */
  readonly #stop = new AbortController();
  /** Ends what is asked. */
  readonly #end = new AbortController();

  constructor(options: OauthTokensOptions) {
    this.#options = options;
  }

  /** The token to use now: at once when a good one is in memory. @throws OauthError when none is to be had. */
  get(settings: OauthSettings): IssuedToken | Promise<IssuedToken> {
    const held = this.#find(settings);
    const now = this.#options.now();
    if (held === undefined || now >= held.lateAt) return this.#fly(settings);
    if (now >= held.aheadAt) this.#renewAhead(settings);
    return held.token;
  }

  /**
   * Another token in the place of one that the upstream refused.
   * @returns undefined when there is none to try: one was got for the same reason a moment ago.
   * @throws OauthError when none is to be had.
   */
  async renew(settings: OauthSettings, rejected: string): Promise<IssuedToken | undefined> {
    const held = this.#find(settings);
    if (held !== undefined && held.token.accessToken !== rejected) return await this.get(settings);
    if (!this.#flights.has(settings.identity) && !this.#admitRenewal(settings)) return undefined;
    const token = await this.#fly(settings);
    return token.accessToken === rejected ? undefined : token;
  }

  /** Waits for nobody's lease any more, and up to `graceMs` for an answer that may hold a new refresh token. */
  async stop(graceMs: number): Promise<void> {
    this.#stop.abort(new OauthError('the server is stopping'));
    const flights = Promise.allSettled(this.#flights.values());
    const timer = new AbortController();
    await Promise.race([flights, sleep(graceMs, undefined, { signal: timer.signal }).catch(() => undefined)]);
    timer.abort();
    this.#end.abort();
  }

  #find({ prefix, identity }: OauthSettings): Held | undefined {
    const held = this.#held.get(prefix);
    return held?.identity === identity ? held : undefined;
  }

  #admitRenewal({ prefix }: OauthSettings): boolean {
    const now = this.#options.now();
    const last = this.#renewedAt.get(prefix);
    if (last !== undefined && isRecent(last, RENEW_EVERY_MS, now)) return false;
    this.#renewedAt.set(prefix, now);
    return true;
  }

  #renewAhead(settings: OauthSettings): void {
    if (this.#flights.has(settings.identity) || this.#findFailure(settings) !== undefined) return;
    this.#fly(settings).catch((error: unknown) => {
      this.#options.log.warn(
        { err: error, label: settings.prefix },
        'an oauth token could not be renewed ahead of its end',
      );
    });
  }

  #fly(settings: OauthSettings): Promise<IssuedToken> {
    const { identity } = settings;
    const flying = this.#flights.get(identity);
    if (flying !== undefined) return flying;
    const failure = this.#findFailure(settings);
    if (failure !== undefined) return Promise.reject(failure.error);
    const flight = this.#obtain(settings)
      .catch((error: unknown) => this.#noteFailure(settings, error))
      .finally(() => this.#flights.delete(identity));
    this.#flights.set(identity, flight);
    return flight;
  }

  #findFailure({ prefix, identity, clientSecret }: OauthSettings): Failure | undefined {
    const failure = this.#failures.get(prefix);
    const isSame = failure?.identity === identity && failure.clientSecret === clientSecret;
    return isSame && isRecent(failure.failedAt, REFUSED_MS, this.#options.now()) ? failure : undefined;
  }

  #noteFailure({ prefix, identity, clientSecret }: OauthSettings, error: unknown): never {
    if (error instanceof OauthError && error.isRefusal) {
      this.#failures.set(prefix, { identity, clientSecret, error, failedAt: this.#options.now() });
    }
    throw error;
  }

  async #obtain(settings: OauthSettings): Promise<IssuedToken> {
    const { vault, now } = this.#options;
    const lookUntil = now() + LOOK_MAX_MS;
    for (;;) {
      const adopted = this.#adopt(settings, await this.#reach(settings, vault.find(settings)));
      if (adopted !== undefined) return adopted;
      const claimed = await this.#reach(settings, vault.claim(settings));
      if (claimed !== undefined) return await this.#obtainAlone(settings, claimed);
      if (now() >= lookUntil)
        throw new OauthError(`another process has been getting the token of oauth:${settings.prefix} for too long`);
      await this.#pause(LOOK_EVERY_MS);
    }
  }

  async #reach<T>({ prefix }: OauthSettings, query: Promise<T>): Promise<T> {
    try {
      return await query;
    } catch (error) {
      if (!isTransient(error)) throw error;
      this.#options.log.warn({ err: error, label: prefix }, 'the oauth token of a label cannot be looked up');
      throw new OauthError(`no token of oauth:${prefix}: the database is out of reach`, { cause: error });
    }
  }

  async #pause(ms: number): Promise<void> {
    const { signal } = this.#stop;
    await sleep(ms, undefined, { signal }).catch(() => {
      throw signal.reason;
    });
  }

  /** Takes a stored token over, if it is good and newer than the one in memory, which may have been refused. */
  #adopt(settings: OauthSettings, kept: KeptToken | undefined): IssuedToken | undefined {
    if (kept?.token === undefined) return undefined;
    if (kept.generation <= (this.#find(settings)?.generation ?? 0)) return undefined;
    const { expiresAt } = kept.token;
    if (expiresAt !== null && expiresAt - this.#options.now() < LIFE_MIN_MS) return undefined;
    return this.#hold(settings, kept.token, kept.generation);
  }

  /** Asks the provider, with the lease in hand. */
  async #obtainAlone(settings: OauthSettings, kept: KeptToken): Promise<IssuedToken> {
    let isStored = false;
    try {
      const adopted = this.#adopt(settings, kept);
      if (adopted !== undefined) return adopted;
      const refreshToken = this.#findRefreshToken(settings, kept);
      this.#stop.signal.throwIfAborted();
      if (refreshToken !== null) this.#options.onSecret(settings.prefix, refreshToken);
      const token = await this.#options.request(settings, refreshToken, this.#end.signal);
      this.#hold(settings, token, kept.generation + 1);
      isStored = await this.#save(settings, token, kept.generation);
      return isStored ? token : await this.#takeStored(settings, token);
    } finally {
      if (!isStored) await this.#release(settings);
    }
  }

  /** The newest refresh token: one that could not be stored is in memory alone. */
  #findRefreshToken(settings: OauthSettings, kept: KeptToken): string | null {
    if (settings.refreshToken === null) return null;
    const held = this.#find(settings);
    const newest = held !== undefined && held.generation > kept.generation ? held.token : kept.token;
    return newest?.refreshToken ?? settings.refreshToken;
  }

  #hold(settings: OauthSettings, token: IssuedToken, generation: number): IssuedToken {
    const { onSecret, now } = this.#options;
    const { prefix, identity } = settings;
    if (token.refreshToken !== null) onSecret(prefix, token.refreshToken);
    onSecret(prefix, token.accessToken);
    const endsAt = token.expiresAt ?? Number.POSITIVE_INFINITY;
    const lifeMs = Math.max(0, endsAt - now());
    const aheadAt = endsAt - Math.min(AHEAD_MAX_MS, lifeMs / 5);
    const lateAt = endsAt - Math.min(LATE_MAX_MS, lifeMs / 20);
    this.#held.set(prefix, { identity, token, generation, aheadAt, lateAt });
    return token;
  }

  /**
   * Stores a token, and does not give up at the first error: what the provider replaced is of no use any more.
   * @returns false when it is not stored.
   */
  async #save(settings: OauthSettings, token: IssuedToken, generation: number): Promise<boolean> {
    const { vault, log, now } = this.#options;
    const until = now() + SAVE_PATIENCE_MS;
    for (let waitMs = 50; ; waitMs = Math.min(waitMs * 2, 1_000)) {
      try {
        return await vault.save(settings, token, generation);
      } catch (error) {
        if (!isTransient(error) || now() >= until) {
          log.error(
            { err: error, label: settings.prefix },
            'an oauth token could not be stored; this process alone has it',
          );
          return false;
        }
        await sleep(waitMs);
      }
    }
  }

  /** Another process stored a token in spite of the lease, which had ended: all use that one. This one is good as well. */
  async #takeStored(settings: OauthSettings, token: IssuedToken): Promise<IssuedToken> {
    const { vault, log } = this.#options;
    const stored = await vault.find(settings).catch((error: unknown) => {
      log.warn({ err: error, label: settings.prefix }, 'the oauth token of a label cannot be looked up');
      return undefined;
    });
    if (stored?.token === undefined || stored.generation < (this.#find(settings)?.generation ?? 0)) return token;
    return this.#hold(settings, stored.token, stored.generation);
  }

  /** A lease that cannot be given back ends by itself. */
  async #release(settings: OauthSettings): Promise<void> {
    await this.#options.vault.release(settings).catch((error: unknown) => {
      this.#options.log.warn(
        { err: error, label: settings.prefix },
        'the lease on an oauth token could not be given back',
      );
    });
  }
}
