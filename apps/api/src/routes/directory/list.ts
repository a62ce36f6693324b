import { problemSchema, rowSchema } from '@rowcall/protocol';
import { z } from 'zod';
import type { App } from '../../app.js';
import type { Context } from '../../context.js';
import { admitReader } from '../../plugins/caller.js';
import { cutPage } from '../query.js';

const querySchema = z.strictObject({
  limit: z.coerce.number().int().min(1).max(1_000).default(100),
  cursor: z.string().max(64).optional().meta({ description: 'next_cursor of the page before: its last key.' }),
  category: z.string().max(128).optional(),
});

/** GET /api/directory: whole rows, by key, enabled or not. */
export function addListRows(app: App, context: Context): void {
  app.route({
    method: 'GET',
    url: '/api/directory',
    schema: {
      operationId: 'listRows',
      summary: 'List rows',
      tags: ['directory'],
      security: [{ ownerKey: [] }, { grant: [] }],
      querystring: querySchema,
      response: {
        200: z.object({ rows: z.array(rowSchema), next_cursor: z.string().nullable() }),
        400: problemSchema,
        401: problemSchema,
        403: problemSchema,
      },
    },
    onRequest: (request) => admitReader(context, request),
    async handler({ query: { limit, cursor = '', category } }) {
      const entries = [...context.catalogue.list()]
        .filter(({ row }) => row.key > cursor && (category === undefined || row.category === category))
        .sort((a, b) => (a.row.key < b.row.key ? -1 : 1));
      const { page, last } = cutPage(entries, limit);
      return { rows: page.map((entry) => entry.toRow()), next_cursor: last?.key ?? null };
    },
  });
}
