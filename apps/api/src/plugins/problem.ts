import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { KeptAnswer } from '@rowcall/engine';
import { AppError, type ErrorCode } from '@rowcall/errors';
import { isDatabaseAway } from '@rowcall/store';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What a caller does about a request that does not fit the route's schemas. */
    fix?: string;
    /** What a body that does not fit is called; unrecognized_request when not given. */
    invalidBody?: ErrorCode;
  }
}

/** Failures that Fastify finds before a handler runs, in our words. */
const FASTIFY_CODES: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_INVALID_JSON_BODY: 'invalid_json',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'invalid_json',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'invalid_json',
  FST_ERR_CTP_BODY_TOO_LARGE: 'payload_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_BAD_URL: 'unrecognized_request',
  FST_ERR_MAX_PARAM_LENGTH: 'unrecognized_request',
};
/** Failures that Node.js finds before there is a request. */
const CONNECTION_CODES: Readonly<Record<string, ErrorCode>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
  HPE_HEADER_OVERFLOW: 'headers_too_large',
};

/** Faults of one request that are told, and characters of each: an answer must not grow with what was sent. */
const FAULTS_MAX = 20;
const FAULT_LENGTH_MAX = 300;

const cut = (text: string): string =>
  text.length > FAULT_LENGTH_MAX ? `${text.slice(0, FAULT_LENGTH_MAX - 1)}…`.toWellFormed() : text;

interface Fault {
  readonly pointer: string;
  readonly message: string;
}

/** A request that does not fit its schemas. */
function toInvalid(request: FastifyRequest, faults: readonly Fault[], inBody: boolean): AppError {
  const errors = faults
    .slice(0, FAULTS_MAX)
    .map(({ pointer, message }) => ({ pointer: cut(pointer), message: cut(message) }));
  const detail = errors.map(({ pointer, message }) => `${pointer || 'the request'}: ${message}`).join('; ');
  const { fix, invalidBody = 'unrecognized_request' } = request.routeOptions.config;
  return new AppError(inBody ? invalidBody : 'unrecognized_request', detail, {
    details: { errors },
    ...(fix === undefined ? {} : { fix }),
  });
}

/** Translates anything thrown into a failure that the caller can act on; undefined for a defect of ours. */
function toAppError(error: unknown, request: FastifyRequest): AppError | undefined {
  if (error instanceof AppError) return error;
  if (hasZodFastifySchemaValidationErrors(error)) {
    const faults = error.validation.map(({ instancePath, message }) => ({
      pointer: instancePath === '/' ? '' : instancePath,
      message: message ?? '',
    }));
    return toInvalid(request, faults, error.validationContext === 'body');
  }
  return toForeign(error);
}

function toForeign(error: unknown): AppError | undefined {
  const { code = '', message, statusCode } = error as Error & { code?: string; statusCode?: number };
  const known = FASTIFY_CODES[code];
  if (known !== undefined) return new AppError(known, cut(message.toLowerCase()), { cause: error });
  if (code === 'ECONNRESET' && statusCode === 400) {
    return new AppError('invalid_json', 'the body ended before its end', { cause: error });
  }
  if (!isDatabaseAway(error)) return undefined;
  return new AppError('database_unavailable', 'the database is out of reach', { cause: error });
}

/** A failure as a problem document (RFC 9457). Its details are members of the problem. */
function toProblemText(error: AppError): string {
  const { status, title } = error.entry;
  return JSON.stringify({
    ...error.details,
    type: `/errors/${error.code}`,
    title,
    status,
    detail: error.message,
    error: error.reason,
    fix: error.fix,
  });
}

/** A failure as the answer that tells of it. */
export function toProblemAnswer(error: AppError): KeptAnswer {
  const { status } = error.entry;
  const { retry_after } = error.details;
  return {
    status,
    headers: {
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      ...(typeof retry_after === 'number' ? { 'retry-after': String(retry_after) } : {}),
      ...(status === 401 ? { 'www-authenticate': 'Bearer realm="rowcall"' } : {}),
    },
    text: toProblemText(error),
  };
}

function sendProblem(reply: FastifyReply, error: AppError): FastifyReply {
  const { status, headers, text } = toProblemAnswer(error);
  return reply.status(status).headers(headers).send(text);
}

/** Answers a failure as a problem. A defect answers a bare 500 and is logged whole. */
export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const known = toAppError(error, request);
  if (known === undefined) {
    request.log.error({ err: error, reqId: request.id }, 'a request failed by a defect');
    const details = { request_id: request.id };
    return sendProblem(reply, new AppError('internal', 'the server failed; its log has the request id', { details }));
  }
  if (known.entry.status >= 500) request.log.warn({ err: known, reqId: request.id }, 'a request could not be served');
  return sendProblem(reply, known);
}

/** Answers what cannot be read as HTTP, or came too slowly or too long, and ends the connection. */
export function answerConnectionError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const code = CONNECTION_CODES[error.code ?? ''] ?? 'unrecognized_request';
  const failure = new AppError(code, code === 'unrecognized_request' ? 'this is not HTTP/1.1' : 'nothing was done');
  const { status } = failure.entry;
  const text = toProblemText(failure);
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'connection: close',
      'content-type: application/problem+json',
      `content-length: ${Buffer.byteLength(text)}`,
      '',
      text,
    ].join('\r\n'),
  );
}

/** Answers every failure of a request as a problem, and refuses new requests while the process stops. */
export function addProblems(app: FastifyInstance): void {
  let closing = false;
  app.addHook('preClose', async () => {
    closing = true;
  });
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-content-type-options', 'nosniff');
    if (closing) return done(new AppError('shutting_down', 'the server is stopping; nothing was done'));
    // Before the body is read: what it holds does not matter here.
    if (request.is404) return done(new AppError('not_found', `nothing answers ${request.method} here`));
    done();
  });
  app.setErrorHandler(answerError);
}
