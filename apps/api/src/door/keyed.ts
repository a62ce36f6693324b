import type { Dispatched, DispatchRequest, KeptAnswer, KeyedRequest } from '@rowcall/engine';
import { AppError } from '@rowcall/errors';
import type { JsonObject } from '@rowcall/protocol';
import type { FastifyRequest } from 'fastify';
import type { Context } from '../context.js';
import { toProblemAnswer } from '../plugins/problem.js';
import { toAnswer, toFinishedAnswer } from './answer.js';

/** An Idempotency-Key: visible ASCII, quoted (as the IETF draft has it) or not. */
const KEY = /^(?:"([\x21\x23-\x5b\x5d-\x7e]{1,255})"|([\x21\x23-\x7e]{1,255}))$/;

/** The Idempotency-Key of a request; undefined where there is none. @throws AppError for one that is not well formed. */
export function findIdempotencyKey(request: FastifyRequest): string | undefined {
  const given = request.headers['idempotency-key'];
  if (given === undefined) return undefined;
  const [, quoted, plain] = KEY.exec(String(given)) ?? [];
  const key = quoted ?? plain;
  if (key !== undefined) return key;
  throw new AppError('unrecognized_request', 'an Idempotency-Key has 1 to 255 visible ASCII characters, no spaces');
}

/** Failures after which the call may still go on: their answer is not the call's. */
const UNDECIDED = new Set(['lane_timeout', 'ledger_unavailable']);

/** A request with an Idempotency-Key. */
export interface Keyed {
  readonly actor: string;
  readonly key: string;
  /** All that was asked for. */
  readonly asked: JsonObject;
  /** Runs it under the claim. */
  readonly run: (claim: DispatchRequest['claim']) => Promise<Dispatched>;
}

/** Answers a request that may have come before: the first one fires, and all get its answer. */
export async function answerOnce(context: Context, { actor, key, asked, run }: Keyed): Promise<KeptAnswer> {
  const keyed = context.repeatedRequests.toKeyed(actor, key, asked);
  for (;;) {
    // A first request of which nothing was run leaves the key to the next.
    const answer = (await findFirst(context, keyed)) ?? (await runFirst(context, keyed, run));
    if (answer !== undefined) return answer;
  }
}

async function findFirst(context: Context, keyed: KeyedRequest): Promise<KeptAnswer | undefined> {
  const first = await context.repeatedRequests.find(keyed);
  if (first === undefined) return undefined;
  if (first.kind === 'kept') return first.answer;
  const answer =
    first.kind === 'refused' ? toProblemAnswer(first.error) : toFinishedAnswer(first.call, context.baseUrl());
  return context.repeatedRequests.keep(keyed, first.id, answer);
}

/** Undefined when another request was first. */
async function runFirst(context: Context, keyed: KeyedRequest, run: Keyed['run']): Promise<KeptAnswer | undefined> {
  let dispatched: Dispatched;
  try {
    dispatched = await run(keyed.claim);
  } catch (error) {
    const kept = await keepRefusal(context, keyed, error);
    if (kept !== undefined) return kept;
    throw error;
  }
  if (dispatched.kind === 'repeated') return undefined;
  const answer = toAnswer(dispatched, context.baseUrl());
  const id = toInvocationId(dispatched);
  return id === undefined ? answer : ((await context.repeatedRequests.keep(keyed, id, answer)) ?? answer);
}

/** Undefined where the key is free again, or the call is not decided yet. */
async function keepRefusal(context: Context, keyed: KeyedRequest, error: unknown): Promise<KeptAnswer | undefined> {
  if (!(error instanceof AppError) || UNDECIDED.has(error.code)) return undefined;
  const { receipt } = error.details;
  return typeof receipt === 'string'
    ? context.repeatedRequests.keep(keyed, receipt, toProblemAnswer(error))
    : undefined;
}

/** Undefined where nothing was fired, queued or parked. */
function toInvocationId(dispatched: Exclude<Dispatched, { kind: 'repeated' }>): string | undefined {
  if (dispatched.kind === 'shaped') return undefined;
  return dispatched.kind === 'finished' ? dispatched.call.receipt.id : dispatched.id;
}
