import type { Credential } from '../http/auth.js';
import type { OauthSettings } from './settings.js';
import type { OauthTokens } from './tokens.js';
import type { IssuedToken } from './vault.js';

/** Where one call gets its credential from. */
export interface CredentialSource {
  /** The credential, or one like it without its value where the value is yet to be got. */
  readonly outline: Credential;
  /** Every secret of the credentials given so far. */
  readonly secrets: readonly string[];
  /** @throws OauthError when no token is to be had. */
  get(): Credential | Promise<Credential>;
  /** Another credential after the upstream refused one (401); undefined when there is no other. @throws OauthError */
  readonly renew?: (rejected: Credential) => Promise<Credential | undefined>;
}

/** A credential that is there, and is what it is. */
export function fixedSource(credential: Credential): CredentialSource {
  return { outline: credential, secrets: credential.secrets, get: () => credential };
}

/** A Bearer token (RFC 6750 2.1) of an oauth label. */
export function oauthSource(settings: OauthSettings, tokens: OauthTokens): CredentialSource {
  const given = new Set<string>();
  const give = (token: IssuedToken): Credential => {
    const credential = toBearer(settings, token);
    for (const secret of credential.secrets) given.add(secret);
    return credential;
  };
  return {
    outline: toOutline(settings.prefix),
    get secrets() {
      return [...given];
    },
    get: () => {
      const token = tokens.get(settings);
      return token instanceof Promise ? token.then(give) : give(token);
    },
    renew: async ({ secrets: [accessToken = ''] }) => {
      const token = await tokens.renew(settings, accessToken);
      return token && give(token);
    },
  };
}

/** How the credential of a label looks before its value is known. */
export function toOutline(label: string): Credential {
  return { label: `oauth:${label}`, header: ['authorization', `Bearer [oauth:${label}]`], query: null, secrets: [] };
}

function toBearer({ prefix, clientSecret, refreshToken }: OauthSettings, token: IssuedToken): Credential {
  return {
    label: `oauth:${prefix}`,
    header: ['authorization', `Bearer ${token.accessToken}`],
    query: null,
    // The access token is the first: by it a refused credential is known.
    secrets: [token.accessToken, clientSecret, refreshToken, token.refreshToken].filter((secret) => secret !== null),
  };
}
