import { problemSchema, rowSchema } from '@rowcall/protocol';
import type { App } from '../../app.js';
import type { Context } from '../../context.js';
import { admitReader } from '../../plugins/caller.js';
import { keyParams, sendRow } from './shared.js';

/** GET /api/directory/{key}: one whole row. */
export function addReadRow(app: App, context: Context): void {
  app.route({
    method: 'GET',
    url: '/api/directory/:key',
    schema: {
      operationId: 'getRow',
      summary: 'Read a row',
      tags: ['directory'],
      security: [{ ownerKey: [] }, { grant: [] }],
      params: keyParams,
      response: { 200: rowSchema, 400: problemSchema, 401: problemSchema, 403: problemSchema, 404: problemSchema },
    },
    onRequest: (request) => admitReader(context, request),
    async handler({ params: { key } }, reply) {
      return sendRow(reply, context.directory.get(key).toRow());
    },
  });
}
