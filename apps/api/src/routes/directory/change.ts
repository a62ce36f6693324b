import { type RowPatch, rowPatchSchema, rowSchema } from '@rowcall/protocol';
import type { App } from '../../app.js';
import type { Context } from '../../context.js';
import { requireOwner } from '../../plugins/owner.js';
import { changeHeaders, changeProblems, keyParams, sendRow, toAuthorship } from './shared.js';

/** PATCH /api/directory/{key}: changes some columns; refuses only what the stored row did not break already. */
export function addChangeRow(app: App, context: Context): void {
  app.route({
    method: 'PATCH',
    url: '/api/directory/:key',
    config: { invalidBody: 'invalid_row' },
    schema: {
      operationId: 'changeRow',
      summary: 'Change columns of a row',
      tags: ['directory'],
      security: [{ ownerKey: [] }],
      params: keyParams,
      headers: changeHeaders,
      body: rowPatchSchema,
      response: { 200: rowSchema, ...changeProblems },
    },
    onRequest: (request) => requireOwner(context, request),
    async handler(request, reply) {
      const patch = request.body as RowPatch;
      return sendRow(reply, await context.directory.patch(request.params.key, patch, toAuthorship(request)));
    },
  });
}
