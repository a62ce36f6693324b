import { type Row, type RowPatch, type RowWrite, rowPatchSchema, rowSchema } from '@rowcall/protocol';
import { updateRow } from '@rowcall/store';
import type { App } from '../../app.js';
import type { Context } from '../../context.js';
import { requireOwner } from '../../plugins/owner.js';
import { changeHeaders, changeProblems, keyParams, sendRow, toAuthorship, withRow } from './shared.js';
import { keepArgumentOrder, toRowChange } from './write.js';

function toPatched(stored: Row, patch: RowPatch): RowWrite {
  const { version: _version, created_at: _createdAt, updated_at: _updatedAt, ...columns } = stored;
  return { ...columns, ...patch };
}

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
      const patch = keepArgumentOrder(request.body as RowPatch);
      const change = (stored: Row) => toRowChange(context, toPatched(stored, patch), stored);
      const options = { ...toAuthorship(request), change };
      const stored = await withRow(context, request.params.key, (key) => updateRow(context.store.db, key, options));
      context.catalogue.apply(stored);
      return sendRow(reply, stored.row);
    },
  });
}
