import { AppError, type ErrorCode } from '@rowcall/errors';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';

/** Failures that Fastify finds before a handler runs, in our words. */
const FASTIFY_CODES: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_INVALID_JSON_BODY: 'invalid_json',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'invalid_json',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'invalid_json',
  FST_ERR_CTP_BODY_TOO_LARGE: 'payload_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
};

/** A request that does not fit its schema: rows say it in their own way, and the door names what it can do. */
function toInvalid(request: FastifyRequest, errors: readonly { pointer: string; message: string }[]): AppError {
  const detail = errors.map(({ pointer, message }) => `${pointer || 'the request'}: ${message}`).join('; ');
  const url = request.routeOptions.url ?? '';
  if (url.startsWith('/api/directory')) return new AppError('invalid_row', detail, { details: { errors } });
  const atDoor = url === '/api/dispatch' && request.method === 'GET';
  return new AppError('unrecognized_request', detail, {
    details: { errors },
    ...(atDoor ? { fix: 'GET /api/dispatch without parameters lists the actions there are' } : {}),
  });
}

/** Translates anything thrown into a failure that the caller can act on; undefined for a defect of ours. */
function toAppError(error: unknown, request: FastifyRequest): AppError | undefined {
  if (error instanceof AppError) return error;
  if (hasZodFastifySchemaValidationErrors(error)) {
    const errors = error.validation.map(({ instancePath, message }) => ({
      pointer: instancePath === '/' ? '' : instancePath,
      message: message ?? '',
    }));
    return toInvalid(request, errors);
  }
  const code = FASTIFY_CODES[(error as { code?: string }).code ?? ''];
  if (code !== undefined) return new AppError(code, (error as Error).message.toLowerCase(), { cause: error });
  // secure-json-parse refuses __proto__ and constructor.prototype with a plain SyntaxError.
  if (error instanceof SyntaxError) return new AppError('invalid_json', error.message.toLowerCase(), { cause: error });
  return undefined;
}

/** Sends a failure as a problem document (RFC 9457). Its details are members of the problem. */
export function sendProblem(reply: FastifyReply, error: AppError): FastifyReply {
  const { status, title } = error.entry;
  const problem = {
    ...error.details,
    type: `/errors/${error.code}`,
    title,
    status,
    detail: error.message,
    error: error.reason,
    fix: error.fix,
  };
  if (status === 401) reply.header('www-authenticate', 'Bearer realm="rowcall"');
  return reply.status(status).header('content-type', 'application/problem+json').send(JSON.stringify(problem));
}

/** Answers every failure as a problem. A defect answers a bare 500 and is logged whole. */
export function addProblems(app: FastifyInstance): void {
  app.setErrorHandler((error, request, reply) => {
    const known = toAppError(error, request);
    if (known === undefined) {
      request.log.error({ err: error }, 'a request failed by a defect');
      return sendProblem(
        reply,
        new AppError('internal', 'the server failed; its log has the request id', {
          details: { request_id: request.id },
        }),
      );
    }
    if (known.entry.status >= 500) request.log.warn({ err: known }, 'a request could not be served');
    return sendProblem(reply, known);
  });
  app.setNotFoundHandler((request, reply) =>
    sendProblem(reply, new AppError('not_found', `nothing answers ${request.method} here`)),
  );
}
