import type { Auth } from '@rowcall/contract';
import { AppError, unreachable } from '@rowcall/errors';

/** A credential with its value, ready to be put on a request. */
export interface Credential {
  /** Names the credential without revealing it: the environment variable, or empty for none. */
  readonly label: string;
  readonly header: readonly [string, string] | null;
  readonly query: readonly [string, string] | null;
  /** Every value that must not appear in a result or a message. */
  readonly secrets: readonly string[];
}

/** A form of auth whose variables hold the credential itself. */
export type StaticAuth = Exclude<Auth, { kind: 'oauth' }>;

const NO_CREDENTIAL: Credential = { label: '', header: null, query: null, secrets: [] };

/**
 * Looks up the values that `auth` names (Bearer: RFC 6750; Basic: RFC 7617, UTF-8).
 * @throws AppError `credential_missing` with the variable's name.
 */
export function resolveCredential(auth: StaticAuth, lookup: (name: string) => string | undefined): Credential {
  switch (auth.kind) {
    case 'none':
      return NO_CREDENTIAL;
    case 'bearer':
      return toHeaderCredential(auth.env, 'authorization', lookup, 'Bearer ');
    case 'header':
      return toHeaderCredential(auth.env, auth.name.toLowerCase(), lookup, '');
    case 'query': {
      const value = getValue(auth.env, lookup);
      return { label: auth.env, header: null, query: [auth.parameter, value], secrets: [value] };
    }
    case 'basic':
      return toBasicCredential(auth.userEnv, auth.passwordEnv, lookup);
    default:
      return unreachable(auth);
  }
}

function toHeaderCredential(
  env: string,
  name: string,
  lookup: (name: string) => string | undefined,
  prefix: string,
): Credential {
  const value = getValue(env, lookup);
  if (!isHeaderValue(value)) {
    throw new AppError('credential_missing', `the value of ${env} cannot be sent in a header: it must be printable`, {
      param: env,
      fix: `set ${env} to one line of printable ASCII characters`,
    });
  }
  return { label: env, header: [name, prefix + value], query: null, secrets: [value] };
}

function toBasicCredential(
  userEnv: string,
  passwordEnv: string | null,
  lookup: (name: string) => string | undefined,
): Credential {
  const user = getValue(userEnv, lookup);
  const password = passwordEnv === null ? '' : getValue(passwordEnv, lookup);
  const pair = `${user}:${password}`;
  const sent = Buffer.from(pair, 'utf8').toString('base64');
  // What is sent is a secret of its own: an upstream may give it back encoded once more.
  const secrets = passwordEnv === null ? [sent, pair, user] : [sent, pair, password, user];
  return {
    label: passwordEnv === null ? userEnv : `${userEnv}:${passwordEnv}`,
    header: ['authorization', `Basic ${sent}`],
    query: null,
    secrets,
  };
}

/** A file that holds a secret often ends in a line break that is no part of it. */
function getValue(env: string, lookup: (name: string) => string | undefined): string {
  const value = lookup(env)?.replace(/\r?\n$/, '');
  if (value === undefined || value === '') {
    throw new AppError('credential_missing', `the row needs a credential, and ${env} is not set`, {
      param: env,
      fix: `set ${env}, or ${env}_FILE, on the server`,
    });
  }
  return value;
}

function isHeaderValue(value: string): boolean {
  return /^[\t\x20-\x7e]*$/.test(value);
}
