import { isDeepStrictEqual } from 'node:util';
import { toRowWrite } from '@rowcall/engine';
import { jsonSchema, problemSchema, type Row, rowSchema } from '@rowcall/protocol';
import { z } from 'zod';
import type { App } from '../../app.js';
import type { Context } from '../../context.js';
import { admitReader } from '../../plugins/caller.js';
import { getVersion, versionParams } from './restore.js';

/** The columns in which two versions differ. */
function listChanges(before: Row, after: Row) {
  const old: Record<string, unknown> = { ...toRowWrite(before) };
  return Object.entries(toRowWrite(after))
    .filter(([column, value]) => !isDeepStrictEqual(value, old[column]))
    .map(([column, value]) => ({ column, before: old[column], after: value as unknown }));
}

/** GET /api/directory/{key}/versions/{version} and …/diff: a row as it stood, and what changed since another version. */
export function addReadVersion(app: App, context: Context): void {
  const shared = { tags: ['directory'], security: [{ ownerKey: [] }, { grant: [] }], params: versionParams };
  const problems = { 400: problemSchema, 401: problemSchema, 403: problemSchema, 404: problemSchema };
  app.route({
    method: 'GET',
    url: '/api/directory/:key/versions/:version',
    schema: {
      ...shared,
      operationId: 'getRowVersion',
      summary: 'Read a version of a row',
      response: { 200: rowSchema, ...problems },
    },
    onRequest: (request) => admitReader(context, request),
    handler: ({ params: { key, version } }) => getVersion(context, key, version),
  });
  app.route({
    method: 'GET',
    url: '/api/directory/:key/versions/:version/diff',
    schema: {
      ...shared,
      operationId: 'diffRowVersions',
      summary: 'Compare two versions of a row',
      querystring: z.strictObject({
        against: z.coerce
          .number()
          .int()
          .min(1)
          .optional()
          .meta({ description: 'The older version; the one before when not given.' }),
      }),
      response: {
        200: z.object({
          key: z.string(),
          from: z.int(),
          to: z.int(),
          changes: z.array(z.object({ column: z.string(), before: jsonSchema, after: jsonSchema })),
        }),
        ...problems,
      },
    },
    onRequest: (request) => admitReader(context, request),
    async handler({ params: { key, version }, query: { against = version - 1 } }) {
      const [before, after] = await Promise.all([getVersion(context, key, against), getVersion(context, key, version)]);
      return { key, from: against, to: version, changes: listChanges(before, after) };
    },
  });
}
