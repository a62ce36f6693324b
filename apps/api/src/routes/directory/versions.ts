import { KEY_PATTERN, problemSchema } from '@rowcall/protocol';
import { listVersions } from '@rowcall/store';
import { z } from 'zod';
import type { App } from '../../app.js';
import type { Context } from '../../context.js';
import { admitReader } from '../../plugins/caller.js';
import { keyParams } from './shared.js';

const versionSchema = z
  .object({
    version: z.int(),
    deleted: z.boolean(),
    fingerprint: z.string().nullable(),
    actor: z.string(),
    reason: z.string().nullable(),
    at: z.string(),
  })
  .meta({ id: 'RowVersion' });

/** GET /api/directory/{key}/versions: the history of a key, newest first, deletions included. */
export function addListVersions(app: App, context: Context): void {
  app.route({
    method: 'GET',
    url: '/api/directory/:key/versions',
    schema: {
      operationId: 'listRowVersions',
      summary: 'List the versions of a row',
      tags: ['directory'],
      security: [{ ownerKey: [] }, { grant: [] }],
      params: keyParams,
      response: {
        200: z.object({ versions: z.array(versionSchema) }),
        401: problemSchema,
        403: problemSchema,
        404: problemSchema,
      },
    },
    onRequest: (request) => admitReader(context, request),
    async handler({ params: { key } }) {
      const versions = KEY_PATTERN.test(key) ? await listVersions(context.store.db, key) : [];
      if (versions.length === 0) throw context.directory.unknownKey(key);
      return { versions };
    },
  });
}
