import { problemSchema } from '@rowcall/protocol';
import { z } from 'zod';
import type { App } from '../../app.js';
import type { Context } from '../../context.js';
import { admitReader } from '../../plugins/caller.js';

const countsSchema = z
  .object({
    rows: z.int().meta({ description: 'All rows.' }),
    enabled: z.int().meta({ description: 'Rows that are enabled.' }),
    registry: z.int().meta({ description: 'Enabled rows whose key is no scratch key.' }),
    projected: z.int().meta({ description: 'Rows of the registry that planners see.' }),
  })
  .meta({ id: 'Counts' });

/** GET /api/directory/counts: the four counts, each by its own predicate. */
export function addCountRows(app: App, context: Context): void {
  app.route({
    method: 'GET',
    url: '/api/directory/counts',
    schema: {
      operationId: 'countRows',
      summary: 'Count rows',
      tags: ['directory'],
      security: [{ ownerKey: [] }, { grant: [] }],
      response: { 200: countsSchema, 401: problemSchema, 403: problemSchema },
    },
    onRequest: (request) => admitReader(context, request),
    handler: async () => context.catalogue.counts,
  });
}
