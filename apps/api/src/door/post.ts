import { type Dispatched, type DispatchRequest, toAnswerText, toReceiptLinks } from '@rowcall/engine';
import { AppError } from '@rowcall/errors';
import {
  type DispatchBody,
  dispatchAnswerSchema,
  dispatchBodySchema,
  isJsonObject,
  problemSchema,
  queuedAnswerSchema,
  shapeAnswerSchema,
} from '@rowcall/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { App } from '../app.js';
import type { Context } from '../context.js';
import { isOwner, requireOwner } from '../plugins/owner.js';
import { correctMisnested } from './misnested.js';

/** A W3C trace context. Version ff and ids of zeros alone are none. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** What the caller probably meant: unrecognized_request with the corrected call; undefined for a call that is flat. */
function findMisnested({ catalogue }: Context, body: unknown): AppError | undefined {
  if (!isJsonObject(body)) return undefined;
  const send = correctMisnested(body, (key, name) => {
    const entry = catalogue.find(key);
    const properties = entry?.inputSchema?.properties;
    const inSchema = isJsonObject(properties) && Object.hasOwn(properties, name);
    return inSchema || entry?.doc.args.some((argument) => argument.name === name) === true;
  });
  if (send === undefined) return undefined;
  return new AppError('unrecognized_request', 'a call is flat: key, and body (a string) or args (an object)', {
    fix: 'send what `send` holds',
    details: { send },
  });
}

/** Whether the caller asks not to wait (RFC 7240). */
const prefersAsync = ({ headers: { prefer } }: FastifyRequest): boolean =>
  typeof prefer === 'string' && /\brespond-async\b/i.test(prefer);

function toRequest(body: DispatchBody, request: FastifyRequest): DispatchRequest {
  return {
    key: body.key,
    input: body.args === undefined ? { body: body.body ?? '' } : { args: body.args },
    expectContract: body.expect_contract,
    shape: body.shape,
    mode: body.mode ?? (prefersAsync(request) ? 'async' : 'sync'),
    onBehalfOf: body.on_behalf_of,
    reason: body.reason,
  };
}

function toCaller(request: FastifyRequest) {
  const traceparent = request.headers.traceparent;
  return {
    actor: 'owner',
    traceparent: typeof traceparent === 'string' && TRACEPARENT.test(traceparent) ? traceparent : null,
  };
}

function sendDispatched(reply: FastifyReply, dispatched: Dispatched, baseUrl: string): FastifyReply {
  reply.header('content-type', 'application/json; charset=utf-8').header('cache-control', 'no-store');
  if (dispatched.kind === 'finished') return reply.send(toAnswerText(dispatched.call, baseUrl));
  if (dispatched.kind === 'shaped') {
    return reply.send(JSON.stringify({ ok: true, ran: false, state: 'shaped', ...dispatched.call }));
  }
  const { id, trace, lane } = dispatched;
  const links = toReceiptLinks(baseUrl, id);
  const answer = { ok: true, ran: false, state: 'queued', trace, invocation_id: id, lane, ...links };
  return reply.status(202).header('location', links.receipt).send(JSON.stringify(answer));
}

/** POST /api/dispatch: runs a row and answers with its result and proof. */
export function addDoorPost(app: App, context: Context): void {
  app.route({
    method: 'POST',
    url: '/api/dispatch',
    schema: {
      operationId: 'invoke',
      summary: 'Run a row',
      description: '200 when the row ran, whatever came of it; 202 when it was queued; a problem when it did not run.',
      tags: ['door'],
      security: [{ ownerKey: [] }],
      body: dispatchBodySchema,
      response: {
        200: z.union([dispatchAnswerSchema, shapeAnswerSchema]),
        202: queuedAnswerSchema,
        400: problemSchema,
        401: problemSchema,
        404: problemSchema,
        409: problemSchema,
        424: problemSchema,
        501: problemSchema,
        503: problemSchema,
        504: problemSchema,
      },
    },
    // With callbacks: this is the way of every call, and a promise for each step would cost as much as the step.
    onRequest(request, _reply, done) {
      if (!isOwner(context, request)) requireOwner(context, request).then(() => done(), done);
      else if (request.headers['idempotency-key'] === undefined) done();
      else
        done(new AppError('unrecognized_request', 'Idempotency-Key is not supported by this version; nothing was run'));
    },
    preValidation(request, _reply, done) {
      done(findMisnested(context, request.body));
    },
    async handler(request, reply) {
      const dispatched = await context.engine.dispatch(toRequest(request.body, request), toCaller(request));
      return sendDispatched(reply, dispatched, context.baseUrl());
    },
  });
}
