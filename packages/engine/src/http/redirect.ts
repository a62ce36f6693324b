import type { Effect } from '@rowcall/protocol';
import { isSecretName } from './redact-names.js';
import { type OutgoingRequest, withoutQuery, withQuery } from './request.js';
import type { HttpFailure } from './types.js';

/** Redirects followed in one call. */
export const REDIRECTS_MAX = 3;

const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308]);
const BODY_HEADERS = new Set(['content-type', 'content-encoding', 'content-language', 'content-location']);

/** Where a redirect leads: on with `next`, or nowhere. */
export type RedirectStep =
  | { readonly kind: 'follow'; readonly next: OutgoingRequest }
  | { readonly kind: 'refuse'; readonly failure: HttpFailure };

/** An answer that is a redirect. */
export interface RedirectAnswer {
  readonly status: number;
  readonly location: string;
}

/** Tells whether a status with a `location` is a redirect to follow (Fetch standard, redirect status). */
export function isRedirectStatus(status: number): boolean {
  return REDIRECT_STATUSES.has(status);
}

/**
 * Builds the next request of a redirect by the Fetch standard: 303, and 301 or 302 of a POST, become a GET. Another
 * origin gets no credential, no cookie, no secret header, and they do not come back at a later hop. Refused: another
 * scheme, user information, https to http, and sending a write a second time to another origin.
 */
export function toRedirectStep(request: OutgoingRequest, answer: RedirectAnswer, effect: Effect): RedirectStep {
  const target = parseLocation(answer.location, request.url);
  if (target === undefined) return refuse('upstream_protocol', 'the upstream redirects to something that is not a URL');
  const refusal = toTargetRefusal(target) ?? toDowngradeRefusal(request.url, target);
  if (refusal !== undefined) return { kind: 'refuse', failure: refusal };
  const next = isTurnedIntoGet(request.method, answer.status) ? toGet(request) : request;
  if (target.origin === request.url.origin) return follow({ ...next, url: withCredential(target, request) });
  if (effect !== 'read' && next.method !== 'GET' && next.method !== 'HEAD') {
    return refuse(
      'redirect_refused',
      `the upstream redirects a ${next.method} to ${target.origin}: it is not sent twice`,
    );
  }
  return leaveOrigin(next, target);
}

/** Why a URL may not be called, whatever its address; undefined when it may. */
export function toTargetRefusal(url: URL): HttpFailure | undefined {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return { code: 'address_refused', message: `scheme ${url.protocol.slice(0, 32)} is refused: use http or https` };
  }
  if (url.username !== '' || url.password !== '') {
    return { code: 'address_refused', message: 'user information in a URL is refused: use basic: in auth' };
  }
  return undefined;
}

function toDowngradeRefusal(from: URL, to: URL): HttpFailure | undefined {
  if (from.protocol !== 'https:' || to.protocol === 'https:') return undefined;
  return { code: 'redirect_refused', message: `the upstream redirects from https to ${to.origin}: it is not followed` };
}

function parseLocation(location: string, base: URL): URL | undefined {
  // Headers arrive as Latin-1; a location beyond ASCII is UTF-8 in practice.
  const text = Buffer.from(location, 'latin1').toString('utf8');
  return URL.canParse(text, base.href) ? new URL(text, base) : undefined;
}

function isTurnedIntoGet(method: string, status: number): boolean {
  if (status === 303) return method !== 'GET' && method !== 'HEAD';
  return method === 'POST' && (status === 301 || status === 302);
}

function toGet(request: OutgoingRequest): OutgoingRequest {
  return {
    ...request,
    method: 'GET',
    body: null,
    headers: request.headers.filter(([name]) => !BODY_HEADERS.has(name)),
  };
}

function withCredential(target: URL, { credential }: OutgoingRequest): URL {
  return credential?.query == null ? target : withQuery(target, credential.query);
}

function leaveOrigin(request: OutgoingRequest, target: URL): RedirectStep {
  const { credential } = request;
  const secrets = credential?.secrets ?? [];
  // Without regard to case: a host name is written in lower case, and would carry the credential to the name servers.
  const lowered = secrets.map((secret) => secret.toLowerCase());
  const holdsSecret = (text: string): boolean => lowered.some((secret) => text.toLowerCase().includes(secret));
  // An upstream that copies our query into its `location` would carry the credential over.
  const url = withoutQuery(target, (name, value) => name === credential?.query?.[0] || holdsSecret(value));
  if (holdsSecret(decodeLoosely(url.href))) {
    return refuse('redirect_refused', `the upstream redirects to ${target.host} with the credential in the URL`);
  }
  const headers = request.headers.filter(([name]) => name !== credential?.header?.[0] && !isSecretName(name));
  return follow({ ...request, url, headers, credential: null });
}

function decodeLoosely(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'));
}

function follow(next: OutgoingRequest): RedirectStep {
  return { kind: 'follow', next };
}

function refuse(code: string, message: string): RedirectStep {
  return { kind: 'refuse', failure: { code, message } };
}
