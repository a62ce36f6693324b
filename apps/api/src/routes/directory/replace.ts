import { AppError } from '@rowcall/errors';
import { rowPutSchema, rowSchema } from '@rowcall/protocol';
import type { App } from '../../app.js';
import type { Context } from '../../context.js';
import { requireOwner } from '../../plugins/owner.js';
import { changeHeaders, changeProblems, keyParams, sendRow, toAuthorship } from './shared.js';

/** PUT /api/directory/{key}: puts a whole row in place of the old one; columns not sent take their defaults. */
export function addReplaceRow(app: App, context: Context): void {
  app.route({
    method: 'PUT',
    url: '/api/directory/:key',
    config: { invalidBody: 'invalid_row' },
    schema: {
      operationId: 'replaceRow',
      summary: 'Replace a row',
      tags: ['directory'],
      security: [{ ownerKey: [] }],
      params: keyParams,
      headers: changeHeaders,
      body: rowPutSchema,
      response: { 200: rowSchema, ...changeProblems },
    },
    onRequest: (request) => requireOwner(context, request),
    async handler(request, reply) {
      const { key } = request.params;
      if (request.body.key !== undefined && request.body.key !== key) {
        throw new AppError('invalid_row', `the body names ${request.body.key}, the address ${key}`);
      }
      return sendRow(reply, await context.directory.replace({ ...request.body, key }, toAuthorship(request)));
    },
  });
}
