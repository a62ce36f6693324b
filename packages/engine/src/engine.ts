import { setMaxListeners } from 'node:events';
import type { Catalogue, Entry } from '@rowcall/catalogue';
import { AppError } from '@rowcall/errors';
import type { Closing, Effect, JsonObject, Log, ReceiptRecord } from '@rowcall/protocol';
import { type Beginning, findLastContract, type Ledger, type Store } from '@rowcall/store';
import { type Admission, admit } from './admit.js';
import type { FinishedCall } from './answer.js';
import { type Call, type Caller, type DispatchRequest, type QueuedCall, toAttempt } from './call.js';
import type { CallRecords } from './call-records.js';
import type { Completions } from './completions.js';
import type { GrantBook } from './grants/grant-book.js';
import { newInvocationId, newTraceId } from './ids.js';
import { Knowledge } from './knowledge.js';
import { LaneCalls, laneOf } from './lane-calls.js';
import type { Lanes } from './lanes.js';
import { LastContracts } from './last-contracts.js';
import type { Openings } from './openings.js';
import {
  isLimited,
  type ParkedCall,
  type PreparedCall,
  toBareBeginning,
  toBeginning,
  toTaking,
  withOpened,
} from './prepared-call.js';
import type { ReceiptRedactor } from './receipt-redactor.js';
import { RowLimits } from './row-limits.js';
import { prepareRun, type RunContext, type Shape } from './run.js';

/** What the engine is built of. */
export interface EngineContext extends RunContext {
  readonly catalogue: Catalogue;
  readonly ledger: Ledger;
  readonly store: Store;
  readonly redactor: ReceiptRedactor;
  readonly records: CallRecords;
  readonly grants: GrantBook;
  readonly openings: Openings;
  readonly lanes: Lanes;
  readonly completions: Completions;
  readonly log: Log;
  /** Id under which this process is registered. */
  readonly processId: string;
  /** Called before a call fires that changes the world, once it was opened; for tests of what a crash there leaves. */
  readonly beforeFire?: ((id: string) => void | Promise<void>) | undefined;
}

/** How a dispatch ended. */
export type Dispatched =
  | { readonly kind: 'finished'; readonly call: FinishedCall }
  | { readonly kind: 'queued'; readonly id: string; readonly trace: string; readonly lane: string }
  | { readonly kind: 'shaped'; readonly call: ShapedCall }
  /** Nothing fires until a person agrees. */
  | { readonly kind: 'parked'; readonly id: string; readonly trace: string; readonly expiresAt: number }
  /** Another call has the request's Idempotency-Key, and this one did nothing. */
  | { readonly kind: 'repeated' };

/** What a call would do: every check was made, and nothing fired. */
export interface ShapedCall extends Shape {
  readonly key: string;
  readonly lane: string;
  readonly effect: Effect;
  readonly fingerprint: string;
  /** Given when the call would wait for a person first. */
  readonly approval_required?: true;
}

/** Parks calls until a person decides. */
export interface Parking {
  /** @throws AppError when the caller has too many calls waiting. */
  park(parked: Pick<PreparedCall, 'call' | 'request' | 'entry'>): Promise<{ readonly expiresAt: number }>;
}

/** Runs rows: gate, arguments, run, receipt. No answer leaves before its receipt is committed. */
export class Engine {
  readonly #context: EngineContext;
  readonly #parking: Parking;
  readonly #abort = new AbortController();
  readonly #laneCalls: LaneCalls;
  readonly #lastContracts: LastContracts;
  readonly #limits: RowLimits;
  readonly #knowledge: Knowledge;
  #active = 0;

  constructor(context: EngineContext, parking: Parking) {
    this.#context = context;
    this.#parking = parking;
    // Every http call under way listens: there is no number of them that is too many.
    setMaxListeners(0, this.#abort.signal);
    this.#lastContracts = new LastContracts((call) => findLastContract(context.store.db, call));
    this.#laneCalls = new LaneCalls({
      ...context,
      refuseUnqueued: ({ call, entry }, error) => this.#refuse(call, error, entry, 'unqueued'),
    });
    this.#limits = new RowLimits(context.now);
    this.#knowledge = new Knowledge(context);
  }

  /** Calls that are under way. */
  get active(): number {
    return this.#active;
  }

  /** Aborts what still runs here, whose receipts say `cancelled`, and no longer waits for what runs elsewhere. */
  abort(): void {
    this.#abort.abort();
    this.#context.completions.stop();
  }

  /**
   * Runs a row for a caller, queues it, or parks it.
   * @param obstacle what keeps the call from running although the gate would allow it.
   * @throws AppError when the row did not run; `details.receipt` names the receipt of the attempt.
   */
  async dispatch(request: DispatchRequest, caller: Caller, obstacle?: AppError): Promise<Dispatched> {
    this.#context.ledger.admit();
    const call = this.#toCall(request, this.#knowledge.isStale ? await this.#knowledge.renew(caller) : caller);
    this.#active += 1;
    try {
      const preparing = this.#orRefuse(call, () => this.#prepare(call, request, obstacle));
      const prepared = preparing instanceof Promise ? await preparing : preparing;
      const { entry } = prepared;
      const needsPerson = prepared.kind === 'park';
      if ((request.shape || needsPerson) && isLimited(caller.chain)) {
        await this.#orRefuse(call, () => this.#requireLeft(prepared), entry);
      }
      if (request.shape) return { kind: 'shaped', call: await this.#shape(prepared) };
      if (needsPerson) return await this.#park(prepared);
      const opening = toBeginning(prepared, this.#context);
      if (opening !== undefined || prepared.lane !== 'inline') {
        await this.#orRefuse(call, () => this.#requireReady(prepared), entry);
      }
      if (entry.row.limits !== null) {
        await this.#orRefuse(call, () => this.#limits.admit(entry, prepared.call.input), entry);
      }
      if (opening !== undefined && !(await this.#beginCounted(prepared, opening))) return { kind: 'repeated' };
      return await this.#go(prepared, opening?.opened != null);
    } finally {
      this.#context.openings.letGo(call.id);
      this.#active -= 1;
    }
  }

  /**
   * Checks a parked call that a person agreed to, as one that comes in now. @throws AppError why it may not run, with no
   * receipt: the parked call has yet to be decided.
   */
  prepareApproved(call: Call, request: DispatchRequest): PreparedCall & { readonly beginning: Beginning } {
    const prepared = this.#toPrepared(this.#admit(call, request, true), call, request);
    if (prepared.kind === 'park') throw new Error(`the call ${call.id} was approved and is to be parked`);
    this.#requireReady(prepared);
    this.#limits.admit(prepared.entry, prepared.call.input);
    // With the whole chain, limited or not: what was revoked meanwhile is seen where it is decided.
    return { ...prepared, beginning: withOpened(toTaking(prepared), prepared, this.#context) };
  }

  /** Runs a call that a person agreed to and that was begun. */
  async goApproved(prepared: PreparedCall): Promise<Dispatched> {
    this.#active += 1;
    try {
      return await this.#go(prepared, true);
    } finally {
      this.#context.openings.letGo(prepared.call.id);
      this.#active -= 1;
    }
  }

  /**
   * Runs a call that came through the queue. Its use was taken when it was queued; what else the gate says holds now.
   * @returns its receipt, to be committed together with the end of its job.
   */
  async runQueued(queued: QueuedCall, lane: string): Promise<ReceiptRecord> {
    const { records } = this.#context;
    const attempt = toAttempt(queued);
    let entry: Entry | undefined;
    try {
      await this.#knowledge.ensureRow(queued);
      const call = { ...attempt, caller: await this.#knowledge.toQueuedCaller(queued) };
      const request = { key: queued.key, input: queued.input, mode: 'sync' } as const;
      const admission = this.#admit(call, { ...request, expectContract: queued.expectContract ?? undefined }, true);
      entry = admission.entry;
      if (admission.kind === 'park') throw new Error(`the queued call ${queued.id} is to be parked`);
      const { run } = this.#toPrepared(admission, call, request);
      return records.ran(attempt, entry, { ran: await run.fire(this.#abort.signal, call), lane });
    } catch (error) {
      return records.refused(attempt, error, entry);
    }
  }

  /** The receipt of a queued call whose runner died while it ran. */
  toInterrupted(queued: QueuedCall, lane: string): ReceiptRecord {
    return this.#context.records.interrupted(toAttempt(queued), lane);
  }

  /** Reads a finished call from the ledger, as it was answered. @throws AppError what refused it. */
  readFinished(id: string): Promise<FinishedCall> {
    return this.#laneCalls.readFinished(id);
  }

  /**
   * Who made a call that was parked; what this process knows is then no older than what the call was checked against.
   * @throws AppError ledger_unavailable when nothing can be run now.
   */
  async toParkedCaller(queued: QueuedCall): Promise<Caller> {
    this.#context.ledger.admit();
    await this.#knowledge.requireFresh();
    await this.#knowledge.ensureRow(queued);
    return this.#knowledge.toQueuedCaller(queued);
  }

  #toCall(request: DispatchRequest, caller: Caller): Call {
    return {
      id: newInvocationId(),
      trace: caller.parent?.trace ?? newTraceId(),
      parent: caller.parent?.id ?? null,
      step: null,
      key: request.key,
      input: request.input,
      actor: caller.actor,
      startedAt: this.#context.now(),
      onBehalfOf: this.#toNote(request.onBehalfOf),
      reason: this.#toNote(request.reason),
      traceparent: caller.traceparent,
      replayOf: request.replayOf ?? null,
      repairs: request.repairs ?? null,
      askId: request.askId ?? null,
      caller,
    };
  }

  /** What a caller says beside the input goes into queues and events too, so it is redacted before anything has it. */
  #toNote(text: string | undefined): string | null {
    return text === undefined ? null : this.#context.redactor.current.text(text);
  }

  /** The gate and the arguments: everything that is decided before anything fires. */
  #prepare(call: Call, request: DispatchRequest, obstacle: AppError | undefined): PreparedCall | ParkedCall {
    const admission = this.#admit(call, request, false);
    if (obstacle !== undefined) throw obstacle;
    requireConfirmed(admission.entry, request);
    return this.#toPrepared(admission, call, request);
  }

  #admit({ caller }: Call, { key, input, expectContract }: DispatchRequest, approved: boolean): Admission {
    return admit({ key, input, expectContract, caller, approved }, this.#context.catalogue, this.#context.now());
  }

  #toPrepared({ kind, entry, allowed }: Admission, call: Call, request: DispatchRequest): PreparedCall | ParkedCall {
    const { input } = allowed;
    const lane = laneOf(entry.row, request.mode);
    const run = prepareRun(entry, input, this.#context);
    return { kind, call: withInput(call, input), request, entry, run, lane, allowed };
  }

  /** @throws AppError what of its grants is used up: nobody is asked for, or shown, what cannot be done. */
  #requireLeft(prepared: PreparedCall | ParkedCall): Promise<void> {
    return this.#context.openings.requireLeft(toTaking(prepared));
  }

  /** What can be known to be missing is, before anything is taken from a grant. @throws AppError */
  #requireReady({ run, lane, request }: PreparedCall): void {
    if (lane === 'inline') run.requireCredential();
    else if (request.mode === 'sync') this.#laneCalls.requireLive(lane);
  }

  /** Begins a call that its row has counted; one that does not begin is not held against the row. */
  async #beginCounted(prepared: PreparedCall, beginning: Beginning): Promise<boolean> {
    let begun = false;
    try {
      begun = await this.#begin(prepared, beginning);
    } finally {
      if (!begun) this.#limits.giveBack(prepared.entry);
    }
    return begun;
  }

  /** @returns false when another call has the Idempotency-Key. */
  async #begin({ call, entry }: PreparedCall | ParkedCall, beginning: Beginning): Promise<boolean> {
    const { openings } = this.#context;
    if (beginning.opened === null) return this.#orRefuse(call, () => openings.begin(beginning), entry);
    openings.hold(call.id);
    return this.#orRefuse(call, () => openings.begin(beginning), entry, 'unfired');
  }

  /** Runs a prepared call that has begun, where it belongs. Only what the gate allowed comes here. */
  async #go(prepared: PreparedCall, opened: boolean): Promise<Dispatched> {
    const { call, request, entry, lane } = prepared;
    if (request.mode === 'async') {
      await this.#laneCalls.enqueue(prepared, opened);
      return { kind: 'queued', id: call.id, trace: call.trace, lane };
    }
    const previous = this.#lastContracts.find(entry, call);
    const running = lane === 'inline' ? this.#finish(prepared, opened) : this.#laneCalls.run(prepared, opened);
    const finished = await running;
    return {
      kind: 'finished',
      call: this.#noteContract(finished, previous instanceof Promise ? await previous : previous),
    };
  }

  async #finish({ call, entry, run }: PreparedCall, opened: boolean): Promise<FinishedCall> {
    const { beforeFire, records, ledger } = this.#context;
    if (opened && beforeFire !== undefined) await beforeFire(call.id);
    const firing = this.#orRefuse(call, () => run.fire(this.#abort.signal, call), entry, opened ? 'fired' : undefined);
    const ran = firing instanceof Promise ? await firing : firing;
    const record = records.ran(call, entry, { ran, lane: 'inline' });
    await ledger.commit(opened ? { ...record, opened: 'fired' } : record);
    return {
      receipt: record.receipt,
      resultText: ran.result.text,
      upstreamText: record.payload.upstream,
      error: ran.error ?? null,
    };
  }

  async #park(parked: ParkedCall): Promise<Dispatched> {
    const { call, request, entry, lane, run } = parked;
    // Nobody is asked for what cannot be done; and a secret is cut from what is shown once it is known.
    if (lane === 'inline') await this.#orRefuse(call, () => run.requireCredential(), entry);
    const { claim } = request;
    if (claim !== undefined) {
      const opening = withOpened(toBareBeginning(parked), parked, this.#context);
      if (!(await this.#begin(parked, opening))) return { kind: 'repeated' };
    }
    const park = () => this.#parking.park({ call, request, entry });
    const { expiresAt } = await this.#orRefuse(call, park, entry, claim === undefined ? undefined : 'unfired');
    return { kind: 'parked', id: call.id, trace: call.trace, expiresAt };
  }

  async #shape({ kind, call, entry, run, lane }: PreparedCall | ParkedCall): Promise<ShapedCall> {
    const { shape, missing } = await this.#orRefuse(call, () => run.shape(), entry);
    const kept = this.#context.redactor.current.json(shape) as JsonObject;
    const shaped = {
      key: entry.row.key,
      lane,
      effect: entry.effect,
      fingerprint: entry.fingerprint,
      shape: kept,
      missing,
    };
    return kind === 'park' ? { ...shaped, approval_required: true } : shaped;
  }

  /**
   * Does a step of a call; when it is refused, the refusal's receipt is committed before it is thrown on. A step that
   * is done at once is answered at once: most are, and waiting for a promise costs more than they do.
   */
  #orRefuse<T>(call: Call, step: () => T | Promise<T>, entry?: Entry, opened?: Closing): T | Promise<T> {
    try {
      const done = step();
      return done instanceof Promise ? done.catch((error: unknown) => this.#refuse(call, error, entry, opened)) : done;
    } catch (error) {
      return this.#refuse(call, error, entry, opened);
    }
  }

  async #refuse(call: Call, error: unknown, entry: Entry | undefined, opened?: Closing): Promise<never> {
    const record = this.#context.records.refused(call, error, entry);
    await this.#context.ledger.commit(opened === undefined ? record : { ...record, opened });
    throw error instanceof AppError ? error.withDetails({ receipt: call.id, trace: call.trace }) : error;
  }

  #noteContract(call: FinishedCall, previous: string | undefined): FinishedCall {
    const { key, actor, contract_fingerprint: current } = call.receipt;
    const contractChange = this.#lastContracts.note(key, actor, {
      ...(previous === undefined ? {} : { previous }),
      ...(current === null ? {} : { current }),
    });
    return contractChange === null ? call : { ...call, contractChange };
  }
}

const withInput = (call: Call, input: Call['input']): Call => (input === call.input ? call : { ...call, input });

/** @throws AppError confirm_required for a replay or repair that changes the world and was not confirmed. */
function requireConfirmed({ row: { key }, effect }: Entry, request: DispatchRequest): void {
  if (request.replayOf === undefined && request.repairs === undefined) return;
  if (effect === 'read' || request.confirmed || request.shape) return;
  throw new AppError('confirm_required', `the effect of ${key} is ${effect}: it may have been done already`);
}
