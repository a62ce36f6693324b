import { toRowWrite } from '@rowcall/engine';
import { AppError } from '@rowcall/errors';
import { type Row, type RowWrite, rowSchema, rowWriteSchema } from '@rowcall/protocol';
import { findVersion, insertRow, type RowChange, type StoredRow, updateRow } from '@rowcall/store';
import { z } from 'zod';
import type { App } from '../../app.js';
import type { Context } from '../../context.js';
import { requireOwner } from '../../plugins/owner.js';
import { changeHeaders, changeProblems, keyParams, sendRow, toAuthorship } from './shared.js';

/** Parameters of an address that names one version of a row. */
export const versionParams = keyParams.extend({ version: z.coerce.number().int().min(1).max(2_147_483_647) });

/** One version of a row as it stood. @throws AppError unknown_version. */
export async function getVersion(context: Context, key: string, version: number): Promise<Row> {
  const row = await findVersion(context.store.db, key, version);
  if (row === undefined) throw new AppError('unknown_version', `${JSON.stringify(key)} has no version ${version}`);
  return row;
}

/** POST /api/directory/{key}/versions/{version}/restore: the row as it stood becomes its newest version. */
export function addRestoreVersion(app: App, context: Context): void {
  app.route({
    method: 'POST',
    url: '/api/directory/:key/versions/:version/restore',
    schema: {
      operationId: 'restoreRowVersion',
      summary: 'Restore a version of a row, also of one that was deleted',
      tags: ['directory'],
      security: [{ ownerKey: [] }],
      params: versionParams,
      headers: changeHeaders,
      response: { 200: rowSchema, ...changeProblems },
    },
    onRequest: (request) => requireOwner(context, request),
    async handler(request, reply) {
      const { key, version } = request.params;
      const change = context.directory.toChange(toWritable(await getVersion(context, key, version)));
      const stored = await writeOld(context, change, toAuthorship(request));
      context.catalogue.apply(stored);
      return sendRow(reply, stored.row);
    },
  });
}

/** An old row may break rules that are younger than it. */
function toWritable(old: Row): RowWrite {
  const parsed = rowWriteSchema.safeParse(toRowWrite(old));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new AppError('invalid_row', `version ${old.version}: /${issue?.path.join('/') ?? ''} ${issue?.message ?? ''}`);
}

async function writeOld(
  context: Context,
  change: RowChange,
  author: ReturnType<typeof toAuthorship>,
): Promise<StoredRow> {
  const { db } = context.store;
  const { row, fingerprint } = change;
  try {
    return await updateRow(db, row.key, { ...author, change: () => change });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'unknown_key') throw error;
    if (author.ifVersion !== undefined) throw new AppError('version_mismatch', `row ${row.key} is deleted`);
    return insertRow(db, row, { ...author, fingerprint });
  }
}
