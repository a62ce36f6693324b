import { z } from 'zod';
import type { App } from '../../app.js';
import type { Context } from '../../context.js';
import { requireOwner } from '../../plugins/owner.js';
import { changeHeaders, changeProblems, keyParams, toAuthorship } from './shared.js';

/** DELETE /api/directory/{key}: the row goes, its history and receipts stay. */
export function addRemoveRow(app: App, context: Context): void {
  app.route({
    method: 'DELETE',
    url: '/api/directory/:key',
    schema: {
      operationId: 'deleteRow',
      summary: 'Delete a row',
      tags: ['directory'],
      security: [{ ownerKey: [] }],
      params: keyParams,
      headers: changeHeaders,
      response: { 200: z.object({ key: z.string(), deleted: z.literal(true), version: z.int() }), ...changeProblems },
    },
    onRequest: (request) => requireOwner(context, request),
    async handler(request) {
      const { key } = request.params;
      const version = await context.directory.remove(key, toAuthorship(request));
      return { key, deleted: true as const, version };
    },
  });
}
