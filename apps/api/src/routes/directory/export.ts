import { Readable } from 'node:stream';
import type { Entry } from '@rowcall/catalogue';
import { toRowWrite } from '@rowcall/engine';
import { problemSchema } from '@rowcall/protocol';
import { z } from 'zod';
import type { App } from '../../app.js';
import type { Context } from '../../context.js';
import { admitReader } from '../../plugins/caller.js';

function* toLines(entries: readonly Entry[]): Generator<string> {
  for (const entry of entries) yield `${JSON.stringify(toRowWrite(entry.toRow()))}\n`;
}

/** GET /api/directory:export: every row as NDJSON, by key, in the form that an import takes. */
export function addExportRows(app: App, context: Context): void {
  app.route({
    method: 'GET',
    url: '/api/directory::export',
    schema: {
      operationId: 'exportRows',
      summary: 'Export rows as NDJSON',
      tags: ['directory'],
      security: [{ ownerKey: [] }, { grant: [] }],
      querystring: z.strictObject({
        category: z.string().max(128).optional(),
        source: z.string().max(256).optional(),
      }),
      response: { 200: z.string().meta({ description: 'One row a line.' }), 401: problemSchema, 403: problemSchema },
    },
    onRequest: (request) => admitReader(context, request),
    async handler({ query: { category, source } }, reply) {
      const entries = [...context.catalogue.list()]
        .filter(({ row }) => category === undefined || row.category === category)
        .filter(({ row }) => source === undefined || row.source === source)
        .sort((a, b) => (a.row.key < b.row.key ? -1 : 1));
      return reply
        .type('application/x-ndjson; charset=utf-8')
        .send(Readable.from(toLines(entries)) as unknown as string);
    },
  });
}
