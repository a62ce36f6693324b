import { isJsonObject, type JsonValue } from '@rowcall/protocol';
import type { Credential } from '../http/auth.js';
import { ACCEPT_ENCODING } from '../http/inflate.js';
import { buildValueRedactor } from '../http/redact.js';
import type { OutgoingRequest } from '../http/request.js';
import type { HttpOutcome } from '../http/types.js';
import type { OauthSettings } from './settings.js';
import type { IssuedToken } from './vault.js';

/** Bytes of a provider's answer that are read as a token. */
export const TOKEN_ANSWER_BYTES_MAX = 65_536;

/** Longest life, in seconds, that is believed: a year. */
const EXPIRES_IN_MAX = 31_536_000;
/** RFC 6749 5.2 and the codes that providers add: anything else is not repeated. */
const ERROR_CODE = /^[A-Za-z0-9_.-]{1,64}$/;
/** What can stand behind `Bearer ` in a header. */
const ACCESS_TOKEN = /^[\x21-\x7e]+$/;

/** No token was to be had. The message names the provider's error code; never a secret, nor anything else of its answer. */
export class OauthError extends Error {
  override readonly name = 'OauthError';
  /** The provider said no: asking again at once would not help. */
  readonly isRefusal: boolean;

  constructor(message: string, options: { readonly isRefusal?: boolean; readonly cause?: unknown } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.isRefusal = options.isRefusal ?? false;
  }
}

/** The request for a token (RFC 6749 4.4.2 and 6). @param refreshToken null: client credentials. */
export function toTokenRequest(
  settings: OauthSettings,
  refreshToken: string | null,
  userAgent: string,
): OutgoingRequest {
  const credential = toClientCredential(settings, refreshToken);
  const headers: (readonly [string, string])[] = [
    ['accept', 'application/json'],
    ['accept-encoding', ACCEPT_ENCODING],
    ['content-type', 'application/x-www-form-urlencoded'],
    ['user-agent', userAgent],
  ];
  return {
    method: 'POST',
    url: settings.tokenUrl,
    headers: credential.header === null ? headers : [...headers, credential.header],
    body: toForm(settings, refreshToken),
    credential,
  };
}

function toClientCredential(settings: OauthSettings, refreshToken: string | null): Credential {
  const { prefix, clientId, clientSecret, clientAuth } = settings;
  const secrets = [clientSecret, refreshToken].filter((secret) => secret !== null);
  const label = `token of oauth:${prefix}`;
  if (clientAuth === 'body' || clientSecret === null) return { label, header: null, query: null, secrets };
  // RFC 6749 2.3.1: both are form-encoded before they are joined.
  const pair = `${toFormText(clientId)}:${toFormText(clientSecret)}`;
  return { label, header: ['authorization', `Basic ${Buffer.from(pair).toString('base64')}`], query: null, secrets };
}

const toFormText = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1);

function toForm(settings: OauthSettings, refreshToken: string | null): string {
  const { clientId, clientSecret, clientAuth, scope, audience } = settings;
  const form = new URLSearchParams(
    refreshToken === null
      ? { grant_type: 'client_credentials' }
      : { grant_type: 'refresh_token', refresh_token: refreshToken },
  );
  if (scope !== null) form.set('scope', scope);
  if (audience !== null) form.set('audience', audience);
  // A public client has no secret, and says who it is in the form (RFC 6749 3.2.1).
  if (clientAuth === 'body' || clientSecret === null) form.set('client_id', clientId);
  if (clientAuth === 'body' && clientSecret !== null) form.set('client_secret', clientSecret);
  return form.toString();
}

/**
 * Reads a provider's answer (RFC 6749 5.1 and 5.2).
 * @param request what was asked with: `sentAt` in epoch milliseconds, from which the token's life is counted.
 * @throws OauthError when the answer is no Bearer token.
 */
export function parseTokenAnswer(
  outcome: HttpOutcome,
  request: { readonly settings: OauthSettings; readonly refreshToken: string | null; readonly sentAt: number },
): IssuedToken {
  const { settings, refreshToken, sentAt } = request;
  const answer = isJsonObject(outcome.result) ? outcome.result : {};
  const refuse = (why: string, isRefusal = outcome.upstream !== null): OauthError =>
    new OauthError(toMessage(settings, refreshToken, why), { isRefusal });
  const code = typeof answer.error === 'string' && ERROR_CODE.test(answer.error) ? answer.error : undefined;
  if (code !== undefined) throw refuse(code + toAdvice(code, settings, refreshToken));
  if (!outcome.ok) throw refuse(toWhy(outcome), isRefusalStatus(outcome.upstream?.status));
  if (outcome.upstream?.truncated) throw refuse(`the answer is larger than ${TOKEN_ANSWER_BYTES_MAX} bytes`);
  const { access_token: accessToken, token_type: tokenType, refresh_token: rotated, expires_in: expiresIn } = answer;
  if (typeof accessToken !== 'string' || !ACCESS_TOKEN.test(accessToken)) {
    throw refuse('the answer is not JSON with an access_token');
  }
  // Some providers leave the type out, which RFC 6749 5.1 does not allow; there is none but Bearer that it could be.
  if (tokenType !== undefined && (typeof tokenType !== 'string' || tokenType.toLowerCase() !== 'bearer')) {
    throw refuse('the token is not of the type Bearer');
  }
  const seconds = toSeconds(expiresIn);
  return {
    accessToken,
    refreshToken: refreshToken !== null && typeof rotated === 'string' && rotated !== '' ? rotated : refreshToken,
    expiresAt: seconds === null ? null : sentAt + seconds * 1_000,
  };
}

/** A number, or one as text, as some providers send it. @returns null when it is neither. */
function toSeconds(value: JsonValue | undefined): number | null {
  const seconds = typeof value === 'string' && /^\d{1,12}$/.test(value) ? Number(value) : value;
  return typeof seconds === 'number' && seconds >= 0 ? Math.min(seconds, EXPIRES_IN_MAX) : null;
}

const isRefusalStatus = (status: number | undefined): boolean =>
  status !== undefined && status >= 300 && status < 500 && status !== 429;

function toWhy({ error }: HttpOutcome): string {
  if (error?.code === 'too_many_redirects') return 'it redirects, and a request for a token is not sent on';
  return error?.message ?? 'it did not answer';
}

function toAdvice(code: string, { prefix }: OauthSettings, refreshToken: string | null): string {
  if (code === 'invalid_client') return ` (check ${prefix}_CLIENT_ID and ${prefix}_CLIENT_SECRET)`;
  if (code === 'invalid_grant' && refreshToken !== null) return ` (set a new ${prefix}_REFRESH_TOKEN)`;
  return '';
}

/** A provider may put what it was sent into its error code. */
function toMessage(settings: OauthSettings, refreshToken: string | null, why: string): string {
  const secrets = [settings.clientSecret, settings.refreshToken, refreshToken].filter((secret) => secret !== null);
  const message = `no token of oauth:${settings.prefix} from ${settings.tokenUrl.origin}: ${why}`;
  return buildValueRedactor(secrets).text(message);
}
