import { AppError } from '@rowcall/errors';
import type { FastifyRequest } from 'fastify';
import type { Context } from '../context.js';

/** The credential that a request presents: a bearer token, or the header x-terminal-key. Never from the address. */
function findCredential(request: FastifyRequest): string | undefined {
  const { authorization } = request.headers;
  const bearer = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
  const key = request.headers['x-terminal-key'];
  return bearer ?? (typeof key === 'string' ? key : undefined);
}

/** Tells whether the request carries the owner key. */
export function isOwner(context: Context, request: FastifyRequest): boolean {
  const credential = findCredential(request);
  return credential !== undefined && context.isOwnerKey(credential);
}

/**
 * Lets the owner pass, whatever others at the same address did: a neighbour behind the same router locks nobody out.
 * @throws AppError unauthorized, counted and slowed down, for anyone else; rate_limited for one who keeps guessing.
 */
export async function requireOwner(context: Context, request: FastifyRequest): Promise<void> {
  if (isOwner(context, request)) return;
  const triedCredential = findCredential(request) !== undefined;
  await context.refusals.add(request.ip, triedCredential);
  throw new AppError('unauthorized', triedCredential ? 'the credential is not valid' : 'no credential was sent');
}
