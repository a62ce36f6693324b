import { GRANT_FINGERPRINT_PATTERN, grantItemSchema, problemSchema } from '@rowcall/protocol';
import { z } from 'zod';
import type { App } from '../../app.js';
import type { Context } from '../../context.js';
import { admitLiveCaller, callerOf } from '../../plugins/caller.js';
import { cutPage, shareParam } from '../query.js';

const querySchema = z.strictObject({
  limit: z.coerce.number().int().min(1).max(200).default(50),
  cursor: z
    .string()
    .regex(GRANT_FINGERPRINT_PATTERN, 'must be the next_cursor of a page')
    .optional()
    .meta({ description: 'next_cursor of the page before.' }),
  share: shareParam,
});

/** GET /api/grants: all grants for the owner; for the holder of one, that and what derives from it. Newest first. */
export function addListGrants(app: App, context: Context): void {
  app.route({
    method: 'GET',
    url: '/api/grants',
    schema: {
      operationId: 'listGrants',
      summary: 'List grants',
      tags: ['grants'],
      security: [{ ownerKey: [] }, { grant: [] }],
      querystring: querySchema,
      response: {
        200: z.object({ grants: z.array(grantItemSchema), next_cursor: z.string().nullable() }),
        400: problemSchema,
        401: problemSchema,
        403: problemSchema,
      },
    },
    onRequest: (request) => admitLiveCaller(context, request),
    async handler(request, reply) {
      const { limit, cursor } = request.query;
      const caller = callerOf(request);
      const found = await context.grants.list(caller, { limit: limit + 1, before: cursor });
      const { page, last } = cutPage(found, limit);
      reply.header('cache-control', 'no-store');
      return { grants: page, next_cursor: last?.fingerprint ?? null };
    },
  });
}
