import { INVOCATION_ID_PATTERN, problemSchema } from '@rowcall/protocol';
import { findApproval, listApprovals } from '@rowcall/store';
import { z } from 'zod';
import type { App } from '../../app.js';
import type { Context } from '../../context.js';
import { admitLiveCaller, callerOf } from '../../plugins/caller.js';
import { cutPage, shareParam } from '../query.js';
import { approvalParams, approvalSchema, toApproval, unknownApproval } from './shared.js';

const querySchema = z.strictObject({
  state: z.enum(['waiting', 'approved', 'denied', 'expired']).optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
  cursor: z
    .string()
    .regex(INVOCATION_ID_PATTERN, 'must be the next_cursor of a page')
    .optional()
    .meta({ description: 'next_cursor of the page before.' }),
  share: shareParam,
});

/** GET /api/approvals and /api/approvals/{id}: calls that wait, or waited, for a person; of the holder of a grant, their own. */
export function addListApprovals(app: App, context: Context): void {
  const shared = { tags: ['approvals'], security: [{ ownerKey: [] }, { grant: [] }] };
  app.route({
    method: 'GET',
    url: '/api/approvals',
    schema: {
      ...shared,
      operationId: 'listApprovals',
      summary: 'List calls that wait, or waited, for a person',
      querystring: querySchema,
      response: {
        200: z.object({ approvals: z.array(approvalSchema), next_cursor: z.string().nullable() }),
        400: problemSchema,
        401: problemSchema,
        403: problemSchema,
      },
    },
    onRequest: (request) => admitLiveCaller(context, request),
    async handler(request, reply) {
      const { state, limit, cursor } = request.query;
      const caller = callerOf(request);
      const actor = caller.chain.length === 0 ? undefined : caller.actor;
      const found = await listApprovals(context.store.db, { state, actor, before: cursor, limit: limit + 1 });
      const { page, last } = cutPage(found, limit);
      reply.header('cache-control', 'no-store');
      return {
        approvals: page.map((approval) => toApproval(approval, context.baseUrl())),
        next_cursor: last?.id ?? null,
      };
    },
  });
  app.route({
    method: 'GET',
    url: '/api/approvals/:id',
    schema: {
      ...shared,
      operationId: 'getApproval',
      summary: 'Read a call that waits, or waited, for a person',
      params: approvalParams,
      response: { 200: approvalSchema, 400: problemSchema, 401: problemSchema, 403: problemSchema, 404: problemSchema },
    },
    onRequest: (request) => admitLiveCaller(context, request),
    async handler(request, reply) {
      const { id } = request.params;
      const caller = callerOf(request);
      const approval = await findApproval(context.store.db, id);
      const isOwn = caller.chain.length === 0 || approval?.actor === caller.actor;
      if (approval === undefined || !isOwn) throw unknownApproval(id);
      reply.header('cache-control', 'no-store');
      return toApproval(approval, context.baseUrl());
    },
  });
}
