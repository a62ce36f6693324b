import type { DispatchRequest, KeptAnswer } from '@rowcall/engine';
import { AppError } from '@rowcall/errors';
import { isDeeper, isJsonObject, JSON_DEPTH_MAX, parseJson } from '@rowcall/protocol';
import type { FastifyRequest } from 'fastify';
import type { Context } from '../context.js';
import { findToken, requireCaller } from '../plugins/caller.js';
import { refuseCredential } from '../plugins/owner.js';
import { toAnswer } from './answer.js';

/** What a link may say beside the row. */
export interface LinkedCall {
  readonly invoke: string;
  readonly body?: string | undefined;
  /** A JSON object. */
  readonly args?: string | undefined;
  readonly ask_id?: string | undefined;
}

/** Headers by which browsers and previews say that nobody has asked for the answer yet. */
const PURPOSES = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'] as const;
const SPECULATIVE = /\b(?:prefetch|prerender|preview)\b/i;

/** @throws AppError prefetch_refused for a request that is made before anybody wants its answer; HEAD is one. */
function refuseSpeculation(request: FastifyRequest): void {
  const isSpeculative = PURPOSES.some((name) => SPECULATIVE.test(String(request.headers[name] ?? '')));
  if (!isSpeculative && request.method === 'GET') return;
  throw new AppError('prefetch_refused', 'a row runs when its answer is wanted; nothing was run');
}

function toInput({ body, args }: LinkedCall): DispatchRequest['input'] {
  if (args === undefined) return { body: body ?? '' };
  if (body !== undefined) throw new AppError('unrecognized_request', 'send body or args, not both');
  const value = parseJson(args);
  if (!isJsonObject(value)) throw new AppError('invalid_args', 'args is not a JSON object');
  if (isDeeper(value, JSON_DEPTH_MAX)) {
    throw new AppError('invalid_args', `args nests deeper than ${JSON_DEPTH_MAX} levels`);
  }
  return { args: value };
}

/**
 * Runs a row by a link: GET /api/dispatch?invoke=KEY&body=…&share=…. For the holder of a grant alone, never for the owner
 * key, which has no place in an address or behind one.
 */
export async function invokeByLink(context: Context, request: FastifyRequest, call: LinkedCall): Promise<KeptAnswer> {
  refuseSpeculation(request);
  if (findToken(request) === undefined) {
    const why = 'a link runs a row for the holder of a grant: add share=<token>';
    await refuseCredential(context, request, { why });
  }
  const caller = await requireCaller(context, request);
  const input = toInput(call);
  const linked = { key: call.invoke, input, mode: 'sync', askId: call.ask_id } as const;
  const dispatched = await context.engine.dispatch(linked, caller);
  if (dispatched.kind === 'repeated') throw new Error('a link was taken for a repetition');
  return toAnswer(dispatched, context.baseUrl());
}
