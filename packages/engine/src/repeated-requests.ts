import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '@rowcall/errors';
import { type JsonValue, parseJson, toCanonicalJson } from '@rowcall/protocol';
import { sha256 } from '@rowcall/receipts';
import {
  findKnownRequest,
  findReceipt,
  type IdempotencyClaim,
  isTransient,
  type KnownRequest,
  type Store,
  saveAnswer,
} from '@rowcall/store';
import type { FinishedCall } from './answer.js';
import type { Completions } from './completions.js';
import type { Engine } from './engine.js';
import { Sealer } from './seal.js';

/** How long, in ms, a repetition waits for the answer to the first request. */
const PATIENCE_MS = 60_000;
/** How often, in ms, it looks although nothing was notified. */
const LOOK_EVERY_MS = 2_000;
/** How long, in ms, after its receipt an answer may take to be kept: a process that died in between keeps none. */
const KEEP_GRACE_MS = 2_000;

/** An answer as it left. */
export interface KeptAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** A request with an Idempotency-Key. */
export interface KeyedRequest {
  readonly claim: IdempotencyClaim;
  /** Opens what is kept of the answer: part of it is the key itself, of which only a hash is stored. */
  readonly sealer: Sealer;
}

/** The first answer to a request; or the call it was the answer to, when the process died before it could keep it. */
export type FirstAnswer =
  | { readonly kind: 'kept'; readonly answer: KeptAnswer }
  | { readonly kind: 'finished'; readonly id: string; readonly call: FinishedCall }
  | { readonly kind: 'refused'; readonly id: string; readonly error: AppError };

/** What {@link RepeatedRequests} work with. */
export interface RepeatedRequestsContext {
  readonly store: Store;
  readonly completions: Completions;
  readonly engine: Engine;
  /** ROWCALL_SECRET_KEY; without it, answers are sealed by the caller's key alone. */
  readonly secretKey: string | undefined;
}

/**
 * Requests that come more than once with the same Idempotency-Key: one fires, by whichever process, and every other gets
 * its answer, byte for byte. The claim of a key is committed with the opening of its call.
 */
export class RepeatedRequests {
  readonly #context: RepeatedRequestsContext;

  constructor(context: RepeatedRequestsContext) {
    this.#context = context;
  }

  /** @param request all that the caller asked for: another one under the same key is refused. */
  toKeyed(actor: string, key: string, request: JsonValue): KeyedRequest {
    const claim = { actor, keyHash: sha256(key), requestHash: sha256(toCanonicalJson(request)) };
    return { claim, sealer: new Sealer(`${this.#context.secretKey ?? ''} ${key}`, 'idempotency') };
  }

  /**
   * The first answer to a request, waiting for it where it is on its way; undefined for a key that is new.
   * @throws AppError idempotency_mismatch; idempotency_pending when there is none after a minute, or at a stop.
   */
  async find({ claim, sealer }: KeyedRequest): Promise<FirstAnswer | undefined> {
    const until = performance.now() + PATIENCE_MS;
    let endedAt: number | undefined;
    for (;;) {
      const known = await findKnownRequest(this.#context.store.db, claim);
      if (known === undefined) return undefined;
      requireSame(known, claim);
      const answer = known.answer === null ? undefined : toAnswer(sealer.open(known.answer, claim.actor));
      if (answer !== undefined) return { kind: 'kept', answer };
      if (known.answer !== null || isOver(endedAt)) return this.#readFirst(known.invocationId);
      this.#requireTime(known, until);
      if (await this.#hasEnded(known)) endedAt ??= performance.now();
      await this.#pause(known, endedAt);
    }
  }

  async #readFirst(id: string): Promise<FirstAnswer> {
    try {
      return { kind: 'finished', id, call: await this.#context.engine.readFinished(id) };
    } catch (error) {
      if (error instanceof AppError) return { kind: 'refused', id, error };
      throw error;
    }
  }

  /** @throws AppError idempotency_pending */
  #requireTime({ invocationId }: KnownRequest, until: number): void {
    if (performance.now() <= until && !this.#context.completions.stopped) return;
    throw new AppError('idempotency_pending', 'the first request with the Idempotency-Key is not answered yet', {
      details: { receipt: invocationId, retry_after: 5 },
    });
  }

  async #hasEnded({ invocationId }: KnownRequest): Promise<boolean> {
    return (await findReceipt(this.#context.store.db, invocationId)) !== undefined;
  }

  /** Until something is notified of the call; when it has ended, until its answer may be kept. */
  async #pause({ invocationId }: KnownRequest, endedAt: number | undefined): Promise<void> {
    if (endedAt === undefined) await this.#context.completions.wait(invocationId, LOOK_EVERY_MS);
    else await sleep(LOOK_EVERY_MS / 10);
  }

  /**
   * Keeps the first answer, before it leaves.
   * @returns the answer to give: the one that is kept, which another process may have been first to keep; undefined when
   * the call does not have the key. @throws AppError ledger_unavailable when it is not known to be kept.
   */
  async keep({ claim, sealer }: KeyedRequest, invocationId: string, answer: KeptAnswer) {
    const sealed = sealer.seal(JSON.stringify(answer), claim.actor);
    const kept = await this.#save({ ...claim, invocationId, answer: sealed });
    return kept === undefined ? undefined : (toAnswer(sealer.open(kept, claim.actor)) ?? answer);
  }

  async #save(answer: Parameters<typeof saveAnswer>[1]): Promise<Buffer | undefined> {
    try {
      return await saveAnswer(this.#context.store.db, answer);
    } catch (cause) {
      if (!isTransient(cause)) throw cause;
      throw new AppError('ledger_unavailable', 'the call was made, but its answer could not be kept', {
        fix: 'send the same again, with the same Idempotency-Key: it is not fired again',
        details: { receipt: answer.invocationId },
        cause,
      });
    }
  }
}

/** @throws AppError idempotency_mismatch. */
function requireSame({ requestHash, invocationId }: KnownRequest, claim: IdempotencyClaim): void {
  if (requestHash === claim.requestHash) return;
  throw new AppError('idempotency_mismatch', 'the Idempotency-Key came with another request before', {
    details: { receipt: invocationId },
  });
}

/** Whether the answer to a call that was seen to have ended should be kept by now. */
const isOver = (endedAt: number | undefined): boolean =>
  endedAt !== undefined && performance.now() > endedAt + KEEP_GRACE_MS;

const toAnswer = (text: string | undefined): KeptAnswer | undefined =>
  text === undefined ? undefined : (parseJson(text) as KeptAnswer | undefined);
