import { createHash } from 'node:crypto';
import { toOauthPrefix } from '@rowcall/contract';
import { AppError } from '@rowcall/errors';

/** Reads the environment on behalf of oauth labels. */
export interface OauthLookup {
  /** The value of a variable that holds no secret; undefined when it is not set. */
  setting(name: string): string | undefined;
  /** The value of a variable that holds a secret, which is hidden from then on; undefined when it is not set. */
  secret(name: string): string | undefined;
  /** False: tokens end with the process, for want of a key to encrypt them with. */
  readonly keepsTokens: boolean;
}

/** How tokens of one label are asked for. */
export interface OauthSettings {
  /** What the label's variables begin with; labels that share it share their tokens. */
  readonly prefix: string;
  readonly tokenUrl: URL;
  readonly clientId: string;
  /** Null for a public client (RFC 6749 2.1). */
  readonly clientSecret: string | null;
  readonly scope: string | null;
  readonly audience: string | null;
  /** The first refresh token; null: client credentials (RFC 6749 4.4). */
  readonly refreshToken: string | null;
  /** Where the client's name and secret go (RFC 6749 2.3.1). */
  readonly clientAuth: 'basic' | 'body';
  /** All that a token depends on, as one text. The client's secret is no part of it: changing it ends no token. */
  readonly identity: string;
}

/** RFC 6749 appendix A: what a client identifier, a secret and a token may hold. */
const VISIBLE = /^[\x20-\x7e]+$/;

interface Values {
  readonly tokenUrl: string | undefined;
  readonly clientId: string | undefined;
  readonly clientSecret: string | undefined;
  readonly scope: string | undefined;
  readonly audience: string | undefined;
  readonly refreshToken: string | undefined;
  readonly clientAuth: string | undefined;
}

/**
 * Reads the settings of a label.
 * @throws AppError `credential_missing` with the name of the first variable that is not set or cannot be used.
 */
export function readOauthSettings(label: string, lookup: OauthLookup): OauthSettings {
  const prefix = toOauthPrefix(label);
  const values = readValues(prefix, lookup);
  const [missing] = listMissing(prefix, values, lookup);
  if (missing !== undefined) throw toMissing(label, missing);
  const scope = values.scope ?? null;
  const audience = values.audience ?? null;
  const refreshToken =
    values.refreshToken === undefined ? null : toVisible(`${prefix}_REFRESH_TOKEN`, values.refreshToken);
  const clientSecret =
    values.clientSecret === undefined ? null : toVisible(`${prefix}_CLIENT_SECRET`, values.clientSecret);
  const tokenUrl = toTokenUrl(`${prefix}_TOKEN_URL`, values.tokenUrl ?? '');
  const clientId = toVisible(`${prefix}_CLIENT_ID`, values.clientId ?? '');
  const clientAuth = toClientAuth(`${prefix}_TOKEN_AUTH`, values.clientAuth);
  const identity = JSON.stringify([prefix, tokenUrl.href, clientId, scope, audience, refreshToken, clientAuth]);
  return { prefix, tokenUrl, clientId, clientSecret, scope, audience, refreshToken, clientAuth, identity };
}

/** The names of the variables that a label still needs. */
export function listMissingSettings(label: string, lookup: OauthLookup): readonly string[] {
  const prefix = toOauthPrefix(label);
  return listMissing(prefix, readValues(prefix, lookup), lookup);
}

/** SHA-256 (lower-case hex) of the identity: a refresh token in it is too long to be guessed (RFC 6749 10.10). */
export function toConfigHash({ identity }: OauthSettings): string {
  return createHash('sha256').update(identity, 'utf8').digest('hex');
}

function readValues(prefix: string, { setting, secret }: OauthLookup): Values {
  const plain = (name: string): string | undefined => setting(`${prefix}_${name}`)?.trim() || undefined;
  const hidden = (name: string): string | undefined => secret(`${prefix}_${name}`)?.replace(/\r?\n$/, '') || undefined;
  return {
    tokenUrl: plain('TOKEN_URL'),
    clientId: plain('CLIENT_ID'),
    clientSecret: hidden('CLIENT_SECRET'),
    scope: plain('SCOPE'),
    audience: plain('AUDIENCE'),
    refreshToken: hidden('REFRESH_TOKEN'),
    clientAuth: plain('TOKEN_AUTH'),
  };
}

function listMissing(prefix: string, values: Values, { keepsTokens }: OauthLookup): string[] {
  const { tokenUrl, clientId, clientSecret, refreshToken } = values;
  return [
    ...(tokenUrl === undefined ? [`${prefix}_TOKEN_URL`] : []),
    ...(clientId === undefined ? [`${prefix}_CLIENT_ID`] : []),
    ...(clientSecret === undefined && refreshToken === undefined ? [`${prefix}_CLIENT_SECRET`] : []),
    // The provider may replace a refresh token at each use: one that is not kept locks its user out.
    ...(refreshToken !== undefined && !keepsTokens ? ['ROWCALL_SECRET_KEY'] : []),
  ];
}

function toMissing(label: string, name: string): AppError {
  const why =
    name === 'ROWCALL_SECRET_KEY'
      ? 'a refresh token may be replaced at each use, and is kept only with a key to encrypt it'
      : `the row needs a token of oauth:${label}`;
  return new AppError('credential_missing', `${why}, and ${name} is not set`, {
    param: name,
    fix: `set ${name}, or ${name}_FILE, on the server`,
  });
}

function toUnusable(name: string, rule: string): AppError {
  return new AppError('credential_missing', `the value of ${name} cannot be used: it must be ${rule}`, {
    param: name,
    fix: `set ${name} to ${rule}`,
  });
}

function toVisible(name: string, value: string): string {
  if (!VISIBLE.test(value)) throw toUnusable(name, 'one line of printable ASCII characters');
  return value;
}

/** RFC 6749 3.2: no fragment. */
function toTokenUrl(name: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isUsable =
    url !== undefined && /^https?:$/.test(url.protocol) && `${url.username}${url.password}${url.hash}` === '';
  if (!isUsable) throw toUnusable(name, 'an http or https address without user information or fragment');
  return url;
}

function toClientAuth(name: string, text = 'basic'): 'basic' | 'body' {
  if (text !== 'basic' && text !== 'body') throw toUnusable(name, 'basic or body');
  return text;
}
