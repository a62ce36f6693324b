import { AppError } from '@rowcall/errors';
import { isToken } from '@rowcall/grants';
import type { FastifyRequest } from 'fastify';
import type { Context } from '../context.js';

/** What credentials are checked with. */
export type Credentials = Pick<Context, 'isOwnerKey' | 'refusals' | 'grantBook'>;

/** The bearer token of a request (RFC 6750). */
export const findBearer = ({ headers: { authorization = '' } }: FastifyRequest): string | undefined =>
  /^Bearer +(\S+) *$/i.exec(authorization)?.[1];

/** The credential that a request presents: a bearer token, or the header x-terminal-key. Never from the address. */
function findCredential(request: FastifyRequest): string | undefined {
  const key = request.headers['x-terminal-key'];
  return findBearer(request) ?? (typeof key === 'string' ? key : undefined);
}

/** Tells whether the request carries the owner key. */
export function isOwner(context: Credentials, request: FastifyRequest): boolean {
  const credential = findCredential(request);
  return credential !== undefined && context.isOwnerKey(credential);
}

/**
 * Lets the owner pass, whatever others at the same address did: a neighbour behind the same router locks nobody out.
 * @throws AppError owner_required for the holder of a grant; unauthorized, counted and slowed down, for anyone else;
 * rate_limited for one who keeps guessing.
 */
export async function requireOwner(context: Credentials, request: FastifyRequest): Promise<void> {
  if (isOwner(context, request)) return;
  await refuseHolder(context, request);
  await refuseCredential(context, request);
}

/** @throws AppError owner_required for the holder of a grant: that credential is valid, and not enough. */
async function refuseHolder({ grantBook }: Credentials, request: FastifyRequest): Promise<void> {
  const { 'x-share': share } = request.headers;
  const tokens = [findCredential(request), share].filter((token): token is string => typeof token === 'string');
  for (const token of tokens.filter(isToken)) {
    if ((await grantBook.findByToken(token)) === undefined) continue;
    throw new AppError('owner_required', 'the token of a grant is not enough here');
  }
}

/**
 * Refuses whoever presents no valid credential, counted and slowed down.
 * @param tried whether one was presented. @throws AppError unauthorized; rate_limited for one who keeps guessing.
 */
export async function refuseCredential(
  context: Credentials,
  request: FastifyRequest,
  { tried = presentsCredential(request), why }: { readonly tried?: boolean; readonly why?: string } = {},
): Promise<never> {
  // While the answer is held back, what came is not: a body takes many times its bytes once it is parsed.
  request.body = undefined;
  await context.refusals.add(request.ip, tried);
  throw new AppError('unauthorized', why ?? (tried ? 'the credential is not valid' : 'no credential was sent'));
}

/** Tells whether the request presents any credential in its headers. */
export const presentsCredential = (request: FastifyRequest): boolean =>
  findCredential(request) !== undefined || request.headers['x-share'] !== undefined;
