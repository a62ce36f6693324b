import { Readable } from 'node:stream';
import { AppError } from '@rowcall/errors';
import { jsonSchema, problemSchema } from '@rowcall/protocol';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { App } from '../../app.js';
import type { Context } from '../../context.js';
import { requireOwner } from '../../plugins/owner.js';
import { importRows } from './bulk-import.js';
import { type NumberedLine, readLines } from './ndjson.js';
import { reasonHeaders, toAuthorship } from './shared.js';
import { readUpload } from './upload.js';

/** Bytes of an import that comes as one JSON array. NDJSON is read as it arrives and has no such limit. */
const ARRAY_BYTES_MAX = 32 * 1024 * 1024;

const flag = z
  .enum(['true', 'false', '1', '0'])
  .optional()
  .transform((value) => value === 'true' || value === '1');

const reportSchema = z
  .object({
    dry_run: z.boolean(),
    atomic: z.boolean(),
    lines: z.int(),
    created: z.int(),
    changed: z.int(),
    unchanged: z.int(),
    failed: z.int(),
    errors: z.array(
      z.object({
        line: z.int(),
        key: z.string().optional(),
        error: z.string(),
        message: z.string(),
        violations: jsonSchema.optional(),
      }),
    ),
  })
  .meta({ id: 'ImportReport' });

/** The rows of a request, one by one: lines of NDJSON, or the members of one JSON array, numbered from 1. */
function readRows(request: FastifyRequest): AsyncIterable<NumberedLine> {
  if (request.body instanceof Readable) return readLines(readUpload(request.body));
  if (!Array.isArray(request.body)) throw new AppError('invalid_row', 'send NDJSON, or one JSON array of rows');
  return toLines(request.body);
}

async function* toLines(rows: readonly unknown[]): AsyncGenerator<NumberedLine> {
  for (const [index, row] of rows.entries()) yield { number: index + 1, text: JSON.stringify(row) };
}

/**
 * POST /api/directory:import: writes many rows, streamed, a transaction per batch. To be added in a scope of its own:
 * NDJSON is taken here alone.
 */
export function addImportRows(app: App, context: Context): void {
  app.addContentTypeParser('application/x-ndjson', (_request, payload, done) => done(null, payload));
  app.route({
    method: 'POST',
    url: '/api/directory::import',
    bodyLimit: ARRAY_BYTES_MAX,
    config: { slowBody: true },
    schema: {
      operationId: 'importRows',
      summary: 'Import rows',
      description:
        'NDJSON (application/x-ndjson), read as it arrives, or one JSON array. Rows that exist are replaced; those that are as they were stay at their version. A bad line is reported by its number and the rest stand; with atomic, nothing is written.',
      tags: ['directory'],
      security: [{ ownerKey: [] }],
      headers: reasonHeaders,
      querystring: z.strictObject({
        dry_run: flag.meta({ description: 'Write nothing; say what would be written.' }),
        atomic: flag.meta({ description: 'One transaction for all lines.' }),
      }),
      response: { 200: reportSchema, 400: problemSchema, 401: problemSchema, 413: problemSchema },
    },
    onRequest: (request) => requireOwner(context, request),
    async handler(request) {
      const { dry_run: dryRun, atomic } = request.query;
      const { actor, reason } = toAuthorship(request);
      return importRows(context, readRows(request), { actor, reason, dryRun, atomic });
    },
  });
}
