import type { CatalogueReading } from '@rowcall/catalogue';
import { CatalogueView } from '@rowcall/catalogue';
import type { Caller } from '@rowcall/engine';
import { AppError } from '@rowcall/errors';
import { type Chain, checkLive, covers, isToken, mayRead, toActor, toAppError } from '@rowcall/grants';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Context } from '../context.js';
import { type Credentials, findBearer, isOwner, refuseCredential } from './owner.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who makes the request, where its route admits callers; null before that, and where it does not. */
    caller: Caller | null;
  }
}

/** Makes room on every request for who makes it. */
export function addCallers(app: FastifyInstance): void {
  app.decorateRequest('caller', null);
}

/** Who makes the request, on a route that admitted them. */
export function callerOf({ caller }: FastifyRequest): Caller {
  if (caller === null) throw new Error('the route admits no caller');
  return caller;
}

/** A W3C trace context. Version ff and ids of zeros alone are none. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

const OWNER: Chain = [];

const header = (request: FastifyRequest, name: string): string | undefined => {
  const value = request.headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
};

/**
 * The token that a request presents: in the body's `share`, the header `x-share`, the query's `share`, or as a bearer
 * token. Where it comes beside an owner key, the token holds: it is the narrower authority.
 * @throws AppError unrecognized_request for two that differ.
 */
export function findToken(request: FastifyRequest, bodyShare?: string): string | undefined {
  const { share } = request.query as { share?: unknown };
  if (Array.isArray(share)) throw new AppError('unrecognized_request', 'share is given more than once');
  const bearer = findBearer(request);
  // One by one: the owner's calls come this way too, and have nothing to collect.
  let token = oneOf(bodyShare, header(request, 'x-share'));
  token = oneOf(token, typeof share === 'string' ? share : undefined);
  return oneOf(token, bearer !== undefined && isToken(bearer) ? bearer : undefined);
}

/** The one of two that is given. @throws AppError unrecognized_request for two that differ. */
function oneOf(token: string | undefined, other: string | undefined): string | undefined {
  if (token === undefined || other === undefined) return token ?? other;
  if (token === other) return token;
  throw new AppError('unrecognized_request', 'the request presents two different tokens');
}

/** Who makes the request: the owner's empty chain or a grant's; undefined for nobody that is known. */
async function findChain(context: Credentials, request: FastifyRequest, token: string | undefined) {
  if (token === undefined) return isOwner(context, request) ? OWNER : undefined;
  return isToken(token) ? context.grantBook.findByToken(token) : undefined;
}

/** Who calls, as the engine knows it. */
function toCaller(request: FastifyRequest, chain: Chain): Caller {
  const grant = chain.at(-1);
  const traceparent = header(request, 'traceparent');
  return {
    actor: grant === undefined ? 'owner' : toActor(grant.fingerprint),
    traceparent: traceparent !== undefined && TRACEPARENT.test(traceparent) ? traceparent : null,
    chain,
    audience: header(request, 'x-audience') ?? queryText(request, 'audience'),
  };
}

/** A link can carry no header. */
function queryText(request: FastifyRequest, name: string): string | undefined {
  const value = (request.query as Readonly<Record<string, unknown>>)[name];
  return typeof value === 'string' ? value : undefined;
}

/** The owner, where no token is presented beside the key: found at once, since most calls are theirs. */
export function findOwner(context: Credentials, request: FastifyRequest): Caller | undefined {
  return findToken(request) === undefined && isOwner(context, request) ? toCaller(request, OWNER) : undefined;
}

/** The owner or the holder of a grant. @throws AppError unauthorized, counted and slowed down, for anyone else. */
export async function requireCaller(
  context: Credentials,
  request: FastifyRequest,
  bodyShare?: string,
): Promise<Caller> {
  const token = findToken(request, bodyShare);
  const chain = await findChain(context, request, token);
  if (chain !== undefined) return toCaller(request, chain);
  return refuseCredential(context, request, token === undefined ? {} : { tried: true });
}

/**
 * The owner, or the holder of a grant that may see what others do (`scope: "read"`).
 * @throws AppError unauthorized; expired, revoked; scope_mismatch.
 */
export async function requireReader(context: Credentials, request: FastifyRequest): Promise<Caller> {
  const caller = await requireCaller(context, request);
  requireLive(caller);
  if (mayRead(caller.chain)) return caller;
  throw new AppError('scope_mismatch', 'that is for the owner and for grants of scope "read"');
}

/** Lets readers pass: {@link requireReader}. */
export async function admitReader(context: Credentials, request: FastifyRequest): Promise<void> {
  request.caller = await requireReader(context, request);
}

/** Lets the owner and the holder of any grant pass, before anything else of the request is looked at. */
export async function admitCaller(context: Credentials, request: FastifyRequest): Promise<void> {
  request.caller = await requireCaller(context, request);
}

/** The same for a grant that still holds. @throws AppError expired, revoked. */
export async function admitLiveCaller(context: Credentials, request: FastifyRequest): Promise<void> {
  await admitCaller(context, request);
  requireLive(callerOf(request));
}

/** Whether the caller's grant has expired or was revoked. */
export const hasEnded = ({ chain }: Caller): boolean => checkLive(chain, Date.now()) !== undefined;

/** @throws AppError expired or revoked: such a grant shows nothing. */
export function requireLive({ chain }: Caller): void {
  const ended = checkLive(chain, Date.now());
  if (ended !== undefined) throw toAppError(ended);
}

/**
 * Who reads, where nobody has to say who they are; undefined for a request without token or owner key.
 * @throws AppError unauthorized for a token of no grant; expired, revoked.
 */
export async function findReader(context: Credentials, request: FastifyRequest): Promise<Caller | undefined> {
  if (findToken(request) === undefined) return findOwner(context, request);
  const caller = await requireCaller(context, request);
  requireLive(caller);
  return caller;
}

/** The rows that a reader may know of. */
export function toView({ catalogue }: Context, reader: Caller | undefined): CatalogueReading {
  const chain = reader?.chain ?? OWNER;
  return chain.length === 0 ? catalogue : new CatalogueView(catalogue, (entry) => covers(chain, entry));
}
