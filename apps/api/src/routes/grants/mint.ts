import type { MintedGrant } from '@rowcall/engine';
import { attenuateBodySchema, grantMintedSchema, mintBodySchema, problemSchema } from '@rowcall/protocol';
import type { FastifyReply } from 'fastify';
import type { App } from '../../app.js';
import type { Context } from '../../context.js';
import { admitCaller, callerOf } from '../../plugins/caller.js';
import { requireOwner } from '../../plugins/owner.js';
import { requireHolder, toReason } from './shared.js';

const FIX =
  'required are scope ("read", "act", or {keys?, prefixes?, categories?}), ttl_seconds, max_uses (0: no limit) and purpose; /docs lists the rest';

const OWNER = { actor: 'owner', chain: [] };

const problems = { 400: problemSchema, 401: problemSchema, 403: problemSchema, 404: problemSchema };

/** POST /api/grants and …/attenuate: the owner makes a grant; the holder of one makes a narrower one. */
export function addMintGrant(app: App, context: Context): void {
  app.route({
    method: 'POST',
    url: '/api/grants',
    config: { invalidBody: 'invalid_args', fix: FIX },
    schema: {
      operationId: 'mintGrant',
      summary: 'Make a grant',
      description: 'The token is in this answer and nowhere else.',
      tags: ['grants'],
      security: [{ ownerKey: [] }],
      body: mintBodySchema,
      response: { 201: grantMintedSchema, ...problems },
    },
    onRequest: (request) => requireOwner(context, request),
    async handler(request, reply) {
      return sendMinted(reply, await context.grants.mint(request.body, OWNER, toReason(request)), context.baseUrl());
    },
  });
  app.route({
    method: 'POST',
    url: '/api/grants/attenuate',
    config: { invalidBody: 'invalid_args', optionalBody: true },
    schema: {
      operationId: 'attenuateGrant',
      summary: 'Make a narrower grant from the one that the request presents',
      description:
        'What is left out is as in the parent; a wider member is refused. Revoking the parent ends the child.',
      tags: ['grants'],
      security: [{ grant: [] }],
      body: attenuateBodySchema,
      response: { 201: grantMintedSchema, ...problems },
    },
    onRequest: (request) => admitCaller(context, request),
    async handler(request, reply) {
      const caller = requireHolder(callerOf(request));
      return sendMinted(
        reply,
        await context.grants.attenuate(request.body, caller, toReason(request)),
        context.baseUrl(),
      );
    },
  });
}

function sendMinted(reply: FastifyReply, minted: MintedGrant, baseUrl: string): FastifyReply {
  return reply
    .status(201)
    .headers({ 'cache-control': 'no-store' })
    .send({ token: minted.token, ...minted.grant, ...toLinks(minted, baseUrl) });
}

/** A link that runs the one row of a grant is ready only where nothing is left to say. */
function toLinks({ token, grant: { scope, audience, fixed_body } }: MintedGrant, baseUrl: string) {
  const link = (query: Record<string, string>): string =>
    `${baseUrl}/api/dispatch?${new URLSearchParams({ ...query, share: token })}`;
  const [key, other] = typeof scope === 'string' ? [] : (scope.keys ?? []);
  const isOne = typeof scope !== 'string' && scope.prefixes === undefined && scope.categories === undefined;
  const invoke =
    isOne && key !== undefined && other === undefined
      ? {
          invoke_url: link({
            invoke: key,
            ...(fixed_body === null ? { body: '' } : {}),
            ...(audience === null ? {} : { audience }),
          }),
        }
      : {};
  return { ...invoke, explain_url: link({ explain: '1' }) };
}
