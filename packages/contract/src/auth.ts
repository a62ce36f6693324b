import { AppError, unreachable } from '@rowcall/errors';

/** How an http row proves who it is. Every `env…` is the name of an environment variable, never a value. */
export type Auth =
  | { readonly kind: 'none' }
  | { readonly kind: 'bearer'; readonly env: string }
  /** RFC 7617; without a password variable the password is empty. */
  | { readonly kind: 'basic'; readonly userEnv: string; readonly passwordEnv: string | null }
  | { readonly kind: 'query'; readonly parameter: string; readonly env: string }
  | { readonly kind: 'header'; readonly name: string; readonly env: string }
  | { readonly kind: 'oauth'; readonly label: string };

const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
const OWN_SECRETS = /^(DATABASE_URL(_FILE)?|ROWCALL_.*)$/i;
/** RFC 9110 `token`. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
const FRAMING_HEADERS =
  /^(host|content-length|transfer-encoding|connection|upgrade|te|trailer|keep-alive|expect|proxy-.*)$/i;
const QUERY_PARAM = /^[A-Za-z0-9_.~[\]-]{1,128}$/;
const OAUTH_LABEL = /^[A-Za-z0-9_.-]{1,64}$/;

const FIX = 'write bearer:ENV, basic:ENV, basic:USER_ENV:PASS_ENV, query:param=ENV, header:Name=ENV or oauth:LABEL';

/**
 * Reads the `auth` column. Empty and null are `none`.
 *
 * @throws AppError `invalid_row` when the text has none of the forms, or names one of Rowcall's own secrets; the message
 *   never quotes the text, which may hold a secret by mistake
 */
export function parseAuth(auth: string | null): Auth {
  const text = (auth ?? '').trim();
  if (text === '') return { kind: 'none' };
  const colon = text.indexOf(':');
  const kind = text.slice(0, Math.max(0, colon));
  const rest = text.slice(colon + 1);
  switch (kind) {
    case 'bearer':
      return { kind, env: toEnvName(rest) };
    case 'basic':
      return parseBasic(rest);
    case 'query':
      return parseQuery(rest);
    case 'header':
      return parseHeader(rest);
    case 'oauth':
      return { kind, label: toOauthLabel(rest) };
    default:
      throw refuse('auth has an unknown form');
  }
}

function toOauthLabel(label: string): string {
  if (!OAUTH_LABEL.test(label)) throw refuse('the label of oauth must match ^[A-Za-z0-9_.-]{1,64}$');
  if (OWN_SECRETS.test(`${toOauthPrefix(label)}_`))
    throw refuse('the label of oauth begins as a setting of this server');
  return label;
}

/**
 * What the environment variables of an oauth label begin with: the label in upper case, with `_` for what no such name may
 * hold. `crm.prod` is configured by `CRM_PROD_TOKEN_URL` and the like.
 */
export function toOauthPrefix(label: string): string {
  return label.toUpperCase().replaceAll(/[.-]/g, '_');
}

function parseBasic(rest: string): Auth {
  const [user = '', password, more] = rest.split(':');
  if (more !== undefined) throw refuse('auth basic takes one or two variable names');
  return {
    kind: 'basic',
    userEnv: toEnvName(user),
    passwordEnv: password === undefined ? null : toEnvName(password),
  };
}

function parseQuery(rest: string): Auth {
  const [parameter, env] = splitPair(rest);
  if (!QUERY_PARAM.test(parameter)) throw refuse('auth query names no valid parameter');
  return { kind: 'query', parameter, env: toEnvName(env) };
}

function parseHeader(rest: string): Auth {
  const [name, env] = splitPair(rest);
  if (!HEADER_NAME.test(name)) throw refuse('auth header names no valid header');
  if (FRAMING_HEADERS.test(name)) throw refuse('auth header names a header that only the connection may set');
  return { kind: 'header', name, env: toEnvName(env) };
}

function splitPair(text: string): [string, string] {
  const equals = text.lastIndexOf('=');
  if (equals < 0) throw refuse('auth lacks the = before the variable name');
  return [text.slice(0, equals), text.slice(equals + 1)];
}

function toEnvName(name: string): string {
  if (!ENV_NAME.test(name)) {
    throw refuse('auth must name an environment variable that matches ^[A-Za-z_][A-Za-z0-9_]*$, not hold a value');
  }
  if (OWN_SECRETS.test(name)) throw refuse('auth names a variable that holds a secret of this server');
  return name;
}

function refuse(message: string): AppError {
  return new AppError('invalid_row', message, { fix: FIX });
}

/** The environment variables that a form of auth names; none for oauth, whose label is only what their names begin with. */
export function credentialNames(auth: Auth): readonly string[] {
  switch (auth.kind) {
    case 'none':
    case 'oauth':
      return [];
    case 'bearer':
    case 'header':
    case 'query':
      return [auth.env];
    case 'basic':
      return auth.passwordEnv === null ? [auth.userEnv] : [auth.userEnv, auth.passwordEnv];
    default:
      return unreachable(auth);
  }
}
