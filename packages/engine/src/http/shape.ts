import { type Auth, credentialNames } from '@rowcall/contract';
import type { JsonObject } from '@rowcall/protocol';
import { toOutline } from '../oauth/source.js';
import { resolveCredential } from './auth.js';
import { toOutgoingRequest } from './request.js';
import type { HttpCall, HttpRunnerOptions } from './types.js';

/** Stands where the value of a variable would stand. */
const toPlaceholder = (name: string): string => `[${name}]`;

/**
 * The exact request that a call would send, with the names of credentials where their values would stand. Sends nothing, resolves no name, and never holds a credential's value.
 * @throws AppError as the call itself would: `invalid_row`, `bad_template_value`.
 */
export function shapeHttpCall(call: HttpCall, { userAgent }: Pick<HttpRunnerOptions, 'userAgent'>): JsonObject {
  const variables = credentialNames(call.auth);
  const { auth } = call;
  const credential = auth.kind === 'oauth' ? toOutline(auth.label) : resolveCredential(auth, toPlaceholder);
  const request = toOutgoingRequest(call, credential, userAgent);
  return {
    method: request.method,
    url: request.url.href.replace(/%5B([A-Za-z0-9_]+)%5D/g, (text, name: string) =>
      variables.includes(name) ? `[${name}]` : text,
    ),
    headers: request.headers.map(([name, value]) =>
      name === 'authorization' ? [name, shownHeader(call.auth, value)] : [name, value],
    ),
    body: request.body,
  };
}

/** Basic credentials are encoded: the placeholders are shown as they would be read. */
function shownHeader(auth: Auth, value: string): string {
  if (auth.kind !== 'basic') return value;
  const [user, password] = [auth.userEnv, auth.passwordEnv].map((name) => (name === null ? '' : toPlaceholder(name)));
  return `Basic base64(${user}:${password})`;
}
