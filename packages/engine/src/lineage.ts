import type { Catalogue, Entry } from '@rowcall/catalogue';
import { AppError } from '@rowcall/errors';
import { covers, mayRead } from '@rowcall/grants';
import {
  INVOCATION_ID_PATTERN,
  type JsonObject,
  parseJson,
  type Receipt,
  type ReceiptPayload,
} from '@rowcall/protocol';
import { type Input, judgeReplay, type TraceNode, toTraceTree } from '@rowcall/receipts';
import { findReceipt, findReceiptPayload, listTrace, type Store } from '@rowcall/store';
import type { Caller, DispatchRequest } from './call.js';
import type { Dispatched, Engine } from './engine.js';
import type { ReceiptRedactor } from './receipt-redactor.js';
import { unknownReceipt } from './refusal.js';

/** Receipts of a trace that one answer shows. */
const TRACE_MAX = 1_000;

/** What {@link Lineage} works with. */
export interface LineageContext {
  readonly store: Store;
  readonly engine: Engine;
  readonly catalogue: Catalogue;
  readonly redactor: ReceiptRedactor;
}

/** A replay: the request's other members, without what the receipt tells. */
export type ReplayRequest = Omit<DispatchRequest, 'key' | 'input' | 'replayOf' | 'repairs'>;

/** What came of a repair by proposal. */
export type Repair =
  | { readonly kind: 'fired'; readonly dispatched: Dispatched }
  /** The corrected call, for the caller to send: it changes the world, so that it is not fired by itself. */
  | { readonly kind: 'proposed'; readonly send: JsonObject };

/** Fires calls again that a receipt tells of, as they were or corrected. Both pass every gate anew. */
export class Lineage {
  readonly #context: LineageContext;

  constructor(context: LineageContext) {
    this.#context = context;
  }

  /**
   * Fires a call again with the recorded input.
   * @throws AppError unknown_receipt; replay_redacted, payload_expired; and what {@link Engine.dispatch} throws.
   */
  async replay(id: string, request: ReplayRequest, caller: Caller): Promise<Dispatched> {
    const { store, engine, redactor } = this.#context;
    const original = await this.getReceipt(id, caller);
    const payload = await findReceiptPayload(store.db, id);
    const input = payload === undefined ? { body: '' } : toInput(payload.request);
    const obstacle = toObstacle(id, payload);
    const dispatched = await engine.dispatch({ ...request, key: original.key, input, replayOf: id }, caller, obstacle);
    if (dispatched.kind !== 'finished') return dispatched;
    const { receipt, resultText } = dispatched.call;
    // What is kept of the first output is redacted, so that the second is compared as it is kept.
    const result = JSON.stringify(redactor.current.json(JSON.parse(resultText)));
    const replay = judgeReplay({ receipt: original, result: payload?.result ?? null }, { receipt, result });
    return { ...dispatched, call: { ...dispatched.call, replay } };
  }

  /** Fires the corrected call of one that failed. @throws AppError unknown_receipt, nothing_to_repair, and as dispatch. */
  async repair(id: string, request: DispatchRequest, caller: Caller): Promise<Dispatched> {
    const original = await this.getReceipt(id, caller);
    const obstacle = original.material
      ? new AppError('nothing_to_repair', `the call ${id} gave a usable output`)
      : undefined;
    return this.#context.engine.dispatch({ ...request, repairs: id }, caller, obstacle);
  }

  /**
   * Derives the corrected call of one whose key no row had: the nearest key, with the recorded input. A read is fired; what
   * changes the world is proposed. @throws AppError unknown_receipt; nothing_to_repair when there is no such correction.
   */
  async repairKey(id: string, request: ReplayRequest, caller: Caller): Promise<Repair> {
    const { catalogue, store } = this.#context;
    const original = await this.getReceipt(id, caller);
    const payload = await findReceiptPayload(store.db, id);
    const obstacle = toObstacle(id, payload);
    if (obstacle !== undefined) throw obstacle;
    const input = toInput(payload?.request ?? '');
    // Which keys there are outside its scope is not for the holder of a grant to learn.
    const isCovered = (near: Entry) => covers(caller.chain, near);
    const [key] = original.error === 'unknown_key' ? catalogue.nearest(original.key, 1, isCovered) : [];
    const entry = key === undefined ? undefined : catalogue.find(key);
    if (entry === undefined) {
      throw new AppError('nothing_to_repair', `only an unknown key is corrected by itself; ${id} failed otherwise`, {
        fix: 'send the corrected call with repairs set to the receipt',
      });
    }
    if (entry.effect === 'read' || request.confirmed === true) {
      return { kind: 'fired', dispatched: await this.repair(id, { ...request, key: entry.row.key, input }, caller) };
    }
    return { kind: 'proposed', send: { key: entry.row.key, ...input, repairs: id, confirm: true } };
  }

  /** A call with what went in and came out; `payload` is null when that is no longer kept. @throws AppError unknown_receipt. */
  async read(id: string, caller: Caller) {
    const reading = [this.getReceipt(id, caller), findReceiptPayload(this.#context.store.db, id)] as const;
    const [receipt, payload] = await Promise.all(reading);
    return { receipt, payload: payload === undefined ? null : toReadPayload(payload) };
  }

  /** The calls of a trace, of those that the caller may know, as a tree. @throws AppError unknown_receipt. */
  async readTree(id: string, caller: Caller): Promise<readonly TraceNode[]> {
    const { trace } = await this.getReceipt(id, caller);
    const receipts = await listTrace(this.#context.store.db, trace, TRACE_MAX);
    return toTraceTree(receipts.filter(({ actor }) => mayRead(caller.chain) || actor === caller.actor));
  }

  /** The receipt of a call that the caller may know all about. @throws AppError unknown_receipt. */
  async getReceipt(id: string, { actor, chain }: Pick<Caller, 'actor' | 'chain'>): Promise<Receipt> {
    const receipt = INVOCATION_ID_PATTERN.test(id) ? await findReceipt(this.#context.store.db, id) : undefined;
    if (receipt !== undefined && (mayRead(chain) || receipt.actor === actor)) return receipt;
    throw unknownReceipt(id);
  }
}

const toReadPayload = ({ request, request_redacted, result, result_redacted, upstream }: ReceiptPayload) => ({
  request: parseJson(request),
  request_redacted,
  result: result === null ? null : parseJson(result),
  result_redacted,
  upstream: upstream === null ? null : parseJson(upstream),
});

/** What keeps the recorded input from being fired again. */
function toObstacle(id: string, payload: { request_redacted: boolean } | undefined): AppError | undefined {
  if (payload === undefined) return new AppError('payload_expired', `what went into ${id} is no longer kept`);
  if (!payload.request_redacted) return undefined;
  return new AppError('replay_redacted', `what went into ${id} held a secret, which is not kept`);
}

function toInput(request: string): Input {
  const recorded = parseJson(request) as Input | undefined;
  return recorded !== undefined && 'args' in recorded ? { args: recorded.args } : { body: recorded?.body ?? '' };
}
