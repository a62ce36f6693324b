import { AppError } from '@rowcall/errors';
import { problemSchema, type Row } from '@rowcall/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';

/** Parameters of every address that names a row. What cannot be a key is an unknown one. */
export const keyParams = z.strictObject({
  key: z.string().max(128).meta({ description: 'The key of a row.', example: 'NOW' }),
});

/** Header that carries the reason of a change into the row's history. */
export const reasonHeaders = z.looseObject({
  'x-reason': z.string().max(1_000).optional().meta({ description: "Why; kept in the row's history." }),
});

/** Headers of a change of one row. */
export const changeHeaders = reasonHeaders.extend({
  'if-match': z.string().optional().meta({ description: 'Version that the row must have, in quotes.', example: '"3"' }),
});

/** Problems that every change may answer. */
export const changeProblems = {
  400: problemSchema,
  401: problemSchema,
  404: problemSchema,
  409: problemSchema,
  412: problemSchema,
  422: problemSchema,
};

/** The version in If-Match (RFC 9110): undefined for none and for `*`. @throws AppError unrecognized_request. */
function versionOf(request: FastifyRequest): number | undefined {
  const header = request.headers['if-match'];
  if (header === undefined || header === '*') return undefined;
  const version = /^"?(\d{1,9})"?$/.exec(header)?.[1];
  if (version === undefined) {
    throw new AppError(
      'unrecognized_request',
      `If-Match holds ${header.slice(0, 64)}; send the version in quotes, such as "3"`,
    );
  }
  return Number(version);
}

/** Who changes the row, why, and which version they saw. */
export function toAuthorship(request: FastifyRequest) {
  const reason = request.headers['x-reason'];
  return { actor: 'owner', ifVersion: versionOf(request), reason: typeof reason === 'string' ? reason : undefined };
}

/** Answers a row, with its version as ETag. */
export function sendRow(reply: FastifyReply, row: Row, status = 200): FastifyReply {
  return reply
    .status(status)
    .headers({ etag: `"${row.version}"` })
    .send(row);
}
