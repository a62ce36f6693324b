import { problemSchema } from '@rowcall/protocol';
import { z } from 'zod';
import type { App } from '../../app.js';
import type { Context } from '../../context.js';
import { admitCaller, callerOf } from '../../plugins/caller.js';
import { grantParams, toReason } from './shared.js';

/** POST /api/grants/{fingerprint}/revoke: ends a grant and all that derive from it, in every process. */
export function addRevokeGrant(app: App, context: Context): void {
  app.route({
    method: 'POST',
    url: '/api/grants/:fingerprint/revoke',
    schema: {
      operationId: 'revokeGrant',
      summary: 'Revoke a grant',
      description:
        'For the owner, its holder, and the holders of the grants that it derives from. A second time changes nothing.',
      tags: ['grants'],
      security: [{ ownerKey: [] }, { grant: [] }],
      params: grantParams,
      response: {
        200: z.object({ fingerprint: z.string(), revoked_at: z.string() }),
        400: problemSchema,
        401: problemSchema,
        404: problemSchema,
      },
    },
    onRequest: (request) => admitCaller(context, request),
    async handler(request) {
      const { fingerprint } = request.params;
      const caller = callerOf(request);
      return { fingerprint, revoked_at: await context.grants.revoke(fingerprint, caller, toReason(request)) };
    },
  });
}
