import type { Caller, Dispatched, DispatchRequest } from '@rowcall/engine';
import { AppError } from '@rowcall/errors';
import {
  type DispatchBody,
  dispatchAnswerSchema,
  dispatchBodySchema,
  isJsonObject,
  type JsonObject,
  parkedAnswerSchema,
  problemSchema,
  queuedAnswerSchema,
  shapeAnswerSchema,
} from '@rowcall/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { App } from '../app.js';
import type { Context } from '../context.js';
import { admitCaller, callerOf, findOwner, findToken, hasEnded, requireCaller, toView } from '../plugins/caller.js';
import { presentsCredential, refuseCredential } from '../plugins/owner.js';
import { sendAnswer, toAnswer } from './answer.js';
import { answerOnce, findIdempotencyKey } from './keyed.js';
import { correctMisnested } from './misnested.js';

/** What the caller probably meant: unrecognized_request with the corrected call; undefined for a call that is flat. */
function findMisnested(context: Context, request: FastifyRequest): AppError | undefined {
  const { body } = request;
  if (!isJsonObject(body)) return undefined;
  const send = correctMisnested(body, (key, name) => {
    // A correction tells what arguments a row has: of those that the caller may know of.
    const entry = toView(context, callerOf(request)).find(key);
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

const shareIn = (body: unknown): string | undefined =>
  isJsonObject(body) && typeof body.share === 'string' ? body.share : undefined;

/** Bytes of a body that is read before it is known who sends it: its token may be in there. */
const UNKNOWN_BODY_BYTES_MAX = 262_144;

/**
 * Finds out who calls before the body is read, and refuses who is not known, as far as the body cannot tell. For the
 * owner, whose calls are many, without a promise.
 */
function admitBody(context: Context, request: FastifyRequest, done: (error?: Error) => void): void {
  request.caller = findOwner(context, request) ?? null;
  if (request.caller !== null) done();
  else if (findToken(request) !== undefined) admitCaller(context, request).then(() => done(), done);
  else if (presentsCredential(request)) refuseCredential(context, request).catch(done);
  else if (isShort(request)) done();
  else {
    const why = `a body of more than ${UNKNOWN_BODY_BYTES_MAX} bytes, or of unknown length, wants its credential in a header`;
    refuseCredential(context, request, { why }).catch(done);
  }
}

const isShort = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= UNKNOWN_BODY_BYTES_MAX;

/** Finds out who calls by the body, where it has a token or nothing else told, and whether it is flat. */
function admit(context: Context, request: FastifyRequest, done: (error?: Error) => void): void {
  const share = shareIn(request.body);
  const check = (caller: Caller): AppError | undefined => {
    request.caller = caller;
    return findMisnested(context, request);
  };
  if (share === undefined && request.caller !== null) done(check(request.caller));
  // What the check throws must come here as well: as a rejection that nobody handles, it would end the process.
  else requireCaller(context, request, share).then(check).then(done, done);
}

/** Whether the caller asks not to wait (RFC 7240). */
const prefersAsync = ({ headers: { prefer } }: FastifyRequest): boolean =>
  typeof prefer === 'string' && /\brespond-async\b/i.test(prefer);

function toRequest(body: DispatchBody, mode: DispatchRequest['mode']): Omit<DispatchRequest, 'key' | 'input'> {
  return {
    expectContract: body.expect_contract,
    shape: body.shape,
    mode,
    onBehalfOf: body.on_behalf_of,
    reason: body.reason,
    askId: body.ask_id,
    confirmed: body.confirm,
  };
}

/** Does what a body asks for: a call of its own, one that is fired again, or one that corrects another. */
function dispatch(
  { engine, lineage }: Context,
  { body, mode, caller }: { body: DispatchBody; mode: DispatchRequest['mode']; caller: Caller },
  claim: DispatchRequest['claim'],
): Promise<Dispatched> {
  const common = { ...toRequest(body, mode), claim };
  if (body.replay !== undefined) return lineage.replay(body.replay, common, caller);
  const input = body.args === undefined ? { body: body.body ?? '' } : { args: body.args };
  const request = { ...common, key: body.key ?? '', input };
  return body.repairs === undefined ? engine.dispatch(request, caller) : lineage.repair(body.repairs, request, caller);
}

async function answer(context: Context, request: FastifyRequest, reply: FastifyReply, body: DispatchBody) {
  const caller = callerOf(request);
  const mode = body.mode ?? (prefersAsync(request) ? 'async' : 'sync');
  const call = { body, mode, caller } as const;
  // A grant that has ended gets no stored answer either: the gate says why.
  const asksOnce = body.shape !== true && !hasEnded(caller);
  const key = asksOnce ? findIdempotencyKey(request) : undefined;
  if (key !== undefined) {
    // What led to it is no part of what is asked for: whoever asked again may repeat the call.
    const { share: _, ask_id: __, ...told } = body;
    // For another audience it is another request, as it is to the gate.
    const { audience } = caller;
    const asked = { ...told, mode, ...(audience === undefined ? {} : { audience }) } as unknown as JsonObject;
    const once = {
      actor: caller.actor,
      key,
      asked,
      run: (claim: DispatchRequest['claim']) => dispatch(context, call, claim),
    };
    return sendAnswer(reply, await answerOnce(context, once));
  }
  const dispatched = await dispatch(context, call, undefined);
  if (dispatched.kind === 'repeated') throw new Error('a call without an Idempotency-Key was taken for a repetition');
  return sendAnswer(reply, toAnswer(dispatched, context.baseUrl()));
}

/** POST /api/dispatch: runs a row and answers with its result and proof. */
export function addDoorPost(app: App, context: Context): void {
  app.route({
    method: 'POST',
    url: '/api/dispatch',
    schema: {
      operationId: 'invoke',
      summary: 'Run a row',
      description:
        '200 when the row ran, whatever came of it; 202 when it was queued or waits for a person; a problem when it did not run.',
      tags: ['door'],
      security: [{ ownerKey: [] }, { grant: [] }],
      body: dispatchBodySchema,
      response: {
        200: z.union([dispatchAnswerSchema, shapeAnswerSchema]),
        202: z.union([queuedAnswerSchema, parkedAnswerSchema]),
        400: problemSchema,
        401: problemSchema,
        403: problemSchema,
        404: problemSchema,
        409: problemSchema,
        410: problemSchema,
        413: problemSchema,
        424: problemSchema,
        429: problemSchema,
        501: problemSchema,
        503: problemSchema,
        504: problemSchema,
      },
    },
    // With callbacks: this is the way of every call, and a promise for each step would cost as much as the step.
    onRequest(request, _reply, done) {
      admitBody(context, request, done);
    },
    preValidation(request, _reply, done) {
      admit(context, request, done);
    },
    handler: (request, reply) => answer(context, request, reply, request.body),
  });
}
