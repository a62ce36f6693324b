import { problemSchema, rowSchema, rowWriteSchema } from '@rowcall/protocol';
import type { App } from '../../app.js';
import type { Context } from '../../context.js';
import { requireOwner } from '../../plugins/owner.js';
import { changeHeaders, sendRow, toAuthorship } from './shared.js';

/** POST /api/directory: adds a capability, live at once in every process. */
export function addCreateRow(app: App, context: Context): void {
  app.route({
    method: 'POST',
    url: '/api/directory',
    config: { invalidBody: 'invalid_row' },
    schema: {
      operationId: 'createRow',
      summary: 'Add a row',
      tags: ['directory'],
      security: [{ ownerKey: [] }],
      headers: changeHeaders,
      body: rowWriteSchema,
      response: { 201: rowSchema, 400: problemSchema, 401: problemSchema, 409: problemSchema, 422: problemSchema },
    },
    onRequest: (request) => requireOwner(context, request),
    async handler(request, reply) {
      const row = await context.directory.add(request.body, toAuthorship(request));
      reply.header('location', `${context.baseUrl()}/api/directory/${row.key}`);
      return sendRow(reply, row, 201);
    },
  });
}
