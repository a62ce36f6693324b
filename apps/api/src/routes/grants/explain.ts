import { grantExplanationSchema, problemSchema } from '@rowcall/protocol';
import type { App } from '../../app.js';
import type { Context } from '../../context.js';
import { admitLiveCaller, callerOf } from '../../plugins/caller.js';
import { grantParams } from './shared.js';

/** GET /api/grants/{fingerprint}: what a grant may do now, and what is left of it. */
export function addExplainGrant(app: App, context: Context): void {
  app.route({
    method: 'GET',
    url: '/api/grants/:fingerprint',
    schema: {
      operationId: 'explainGrant',
      summary: 'Explain a grant',
      description:
        'For the owner, its holder, and the holders of the grants that it derives from. By the same checks as a call.',
      tags: ['grants'],
      security: [{ ownerKey: [] }, { grant: [] }],
      params: grantParams,
      response: {
        200: grantExplanationSchema,
        400: problemSchema,
        401: problemSchema,
        403: problemSchema,
        404: problemSchema,
      },
    },
    onRequest: (request) => admitLiveCaller(context, request),
    async handler(request, reply) {
      const caller = callerOf(request);
      reply.header('cache-control', 'no-store');
      return context.grants.explain(request.params.fingerprint, caller);
    },
  });
}
