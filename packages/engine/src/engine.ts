import { setMaxListeners } from 'node:events';
import type { Catalogue, Entry } from '@rowcall/catalogue';
import { AppError } from '@rowcall/errors';
import type { Effect, JsonObject, Log, ReceiptRecord } from '@rowcall/protocol';
import { type Attempt, buildReceipt, type Ending } from '@rowcall/receipts';
import { findLastContract, type Ledger, type Store } from '@rowcall/store';
import type { FinishedCall } from './answer.js';
import type { Caller, DispatchRequest, QueuedCall } from './call.js';
import type { Completions } from './completions.js';
import { newInvocationId, newTraceId } from './ids.js';
import { LaneCalls, laneOf, type Queueing } from './lane-calls.js';
import type { Lanes } from './lanes.js';
import { LastContracts } from './last-contracts.js';
import type { ReceiptRedactor } from './receipt-redactor.js';
import { RowLimits } from './row-limits.js';
import { type PreparedRun, prepareRun, type RunContext, type RunResult, type Shape } from './run.js';

/** How long, in ms, a call waits for a catalogue that may have missed changes. */
const FRESH_WAIT_MS = 2_000;
const SUGGESTIONS_MAX = 6;

/** What the engine is built of. */
export interface EngineContext extends RunContext {
  readonly catalogue: Catalogue;
  readonly ledger: Ledger;
  readonly store: Store;
  readonly redactor: ReceiptRedactor;
  readonly lanes: Lanes;
  readonly completions: Completions;
  readonly log: Log;
}

/** How a dispatch ended: the row ran, or it waits for a runner. */
export type Dispatched =
  | { readonly kind: 'finished'; readonly call: FinishedCall }
  | { readonly kind: 'queued'; readonly id: string; readonly trace: string; readonly lane: string }
  | { readonly kind: 'shaped'; readonly call: ShapedCall };

/** What a call would do: every check was made, and nothing fired. */
export interface ShapedCall extends Shape {
  readonly key: string;
  readonly lane: string;
  readonly effect: Effect;
  readonly fingerprint: string;
}

/** Runs rows: gate, arguments, run, receipt. No answer leaves before its receipt is committed. */
export class Engine {
  readonly #context: EngineContext;
  readonly #abort = new AbortController();
  readonly #laneCalls: LaneCalls;
  readonly #lastContracts: LastContracts;
  readonly #limits: RowLimits;
  #active = 0;

  constructor(context: EngineContext) {
    this.#context = context;
    // Every http call under way listens: there is no number of them that is too many.
    setMaxListeners(0, this.#abort.signal);
    this.#lastContracts = new LastContracts((call) => findLastContract(context.store.db, call));
    this.#laneCalls = new LaneCalls(context);
    this.#limits = new RowLimits(context.now);
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
   * Runs a row for a caller, or queues it.
   * @throws AppError when the row did not run; `details.receipt` names the receipt of the attempt.
   */
  async dispatch(request: DispatchRequest, caller: Caller): Promise<Dispatched> {
    const { catalogue, ledger } = this.#context;
    ledger.admit();
    if (catalogue.staleSince !== undefined) await this.#requireFresh();
    const attempt = this.#toAttempt(request, caller);
    this.#active += 1;
    try {
      const preparing = this.#orRefuse(attempt, () => this.#prepare(request));
      const { entry, run } = preparing instanceof Promise ? await preparing : preparing;
      const lane = laneOf(entry.row, request.mode);
      if (entry.row.limits !== null && !request.shape) {
        await this.#orRefuse(attempt, () => this.#limits.admit(entry, request.input), entry);
      }
      if (request.shape) return { kind: 'shaped', call: await this.#shape(attempt, { entry, run, lane }) };
      if (request.mode === 'async') {
        await this.#laneCalls.enqueue(attempt, { request, entry, lane });
        return { kind: 'queued', id: attempt.id, trace: attempt.trace, lane };
      }
      const previous = this.#lastContracts.find(entry, attempt);
      const call =
        lane === 'inline'
          ? await this.#finish(attempt, entry, run)
          : await this.#runOnLane(attempt, { request, entry, lane });
      return {
        kind: 'finished',
        call: this.#noteContract(call, previous instanceof Promise ? await previous : previous),
      };
    } finally {
      this.#active -= 1;
    }
  }

  /**
   * Runs a call that came through the queue.
   * @returns its receipt, to be committed together with the end of its job.
   */
  async runQueued(call: QueuedCall, lane: string): Promise<ReceiptRecord> {
    const attempt: Attempt = { ...call, parent: null, step: null };
    let entry: Entry | undefined;
    try {
      await this.#ensureRow(call);
      const prepared = this.#prepare({ ...call, expectContract: call.expectContract ?? undefined });
      entry = prepared.entry;
      return this.#toReceipt(attempt, entry, { ran: await prepared.run.fire(this.#abort.signal, attempt), lane });
    } catch (error) {
      return this.#toRefusal(attempt, error, entry);
    }
  }

  /** The receipt of a call whose runner died while it ran: whether it fired is not known, and it is not fired again. */
  toInterrupted(call: QueuedCall, lane: string): ReceiptRecord {
    const entry = this.#context.catalogue.find(call.key);
    return buildReceipt(
      { ...call, parent: null, step: null },
      {
        row: entry === undefined ? null : toAttemptedRow(entry),
        lane,
        finishedAt: this.#context.now(),
        outcome: 'interrupted',
        error: { reason: 'interrupted', message: 'the runner died while the call ran; it may have taken effect' },
      },
      this.#context.redactor.current,
    );
  }

  async #ensureRow({ key, rowVersion }: QueuedCall): Promise<void> {
    try {
      await this.#context.catalogue.ensure(key, rowVersion);
    } catch (error) {
      throw new AppError('ledger_unavailable', 'the row could not be read; nothing was run', { cause: error });
    }
  }

  async #requireFresh(): Promise<void> {
    if (await this.#context.catalogue.whenFresh(FRESH_WAIT_MS)) return;
    throw new AppError('ledger_unavailable', 'the database is out of reach; nothing was run', {
      details: { stale_since: new Date(this.#context.catalogue.staleSince ?? this.#context.now()).toISOString() },
    });
  }

  #toAttempt(request: DispatchRequest, caller: Caller): Attempt {
    return {
      id: newInvocationId(),
      trace: newTraceId(),
      parent: null,
      step: null,
      key: request.key,
      input: request.input,
      actor: caller.actor,
      startedAt: this.#context.now(),
      onBehalfOf: this.#toNote(request.onBehalfOf),
      reason: this.#toNote(request.reason),
      traceparent: caller.traceparent,
    };
  }

  /** What a caller says beside the input goes into queues and events too, so it is redacted before anything has it. */
  #toNote(text: string | undefined): string | null {
    return text === undefined ? null : this.#context.redactor.current.text(text);
  }

  /** The gate and the arguments: everything that is decided before anything fires. */
  #prepare(request: Pick<DispatchRequest, 'key' | 'input' | 'expectContract'>): { entry: Entry; run: PreparedRun } {
    const entry = this.#admit(request);
    return { entry, run: prepareRun(entry, request.input, this.#context) };
  }

  #admit({ key, expectContract }: Pick<DispatchRequest, 'key' | 'expectContract'>): Entry {
    const entry = this.#context.catalogue.find(key);
    if (entry === undefined) {
      const didYouMean = this.#context.catalogue.nearest(key, SUGGESTIONS_MAX);
      throw new AppError('unknown_key', `no row has the key ${JSON.stringify(key.slice(0, 128))}`, {
        details: { did_you_mean: didYouMean },
      });
    }
    if (!entry.row.enabled) throw new AppError('capability_disabled', `the row ${key} is disabled`);
    if (expectContract !== undefined && expectContract !== entry.fingerprint) {
      throw new AppError('contract_changed', `the contract of ${key} is no longer the one that was expected`, {
        param: `${expectContract}!=${entry.fingerprint}`,
      });
    }
    return entry;
  }

  async #finish(attempt: Attempt, entry: Entry, run: PreparedRun): Promise<FinishedCall> {
    const firing = this.#orRefuse(attempt, () => run.fire(this.#abort.signal, attempt), entry);
    const ran = firing instanceof Promise ? await firing : firing;
    const record = this.#toReceipt(attempt, entry, { ran, lane: 'inline' });
    await this.#context.ledger.commit(record);
    return {
      receipt: record.receipt,
      resultText: ran.result.text,
      upstreamText: record.payload.upstream,
      error: ran.error ?? null,
    };
  }

  async #shape(attempt: Attempt, planned: { entry: Entry; run: PreparedRun; lane: string }): Promise<ShapedCall> {
    const { entry, run, lane } = planned;
    const { shape, missing } = await this.#orRefuse(attempt, () => run.shape(), entry);
    const kept = this.#context.redactor.current.json(shape) as JsonObject;
    return { key: entry.row.key, lane, effect: entry.effect, fingerprint: entry.fingerprint, shape: kept, missing };
  }

  // Member by member: copying objects of many shapes costs more than the rest of a receipt.
  #toReceipt(attempt: Attempt, entry: Entry, { ran, lane }: { ran: RunResult; lane: string }): ReceiptRecord {
    const ending: Ending = {
      row: toAttemptedRow(entry),
      lane,
      finishedAt: this.#context.now(),
      outcome: ran.outcome,
      result: ran.result,
      upstream: ran.upstream ?? null,
      error: ran.error ?? null,
    };
    return buildReceipt(attempt, ending, this.#context.redactor.current);
  }

  /**
   * Does a step of a call; when it is refused, the refusal's receipt is committed before it is thrown on. A step that
   * is done at once is answered at once: most are, and waiting for a promise costs more than they do.
   */
  #orRefuse<T>(attempt: Attempt, step: () => T | Promise<T>, entry?: Entry): T | Promise<T> {
    try {
      const done = step();
      return done instanceof Promise ? done.catch((error: unknown) => this.#refuse(attempt, error, entry)) : done;
    } catch (error) {
      return this.#refuse(attempt, error, entry);
    }
  }

  async #refuse(attempt: Attempt, error: unknown, entry?: Entry): Promise<never> {
    await this.#context.ledger.commit(this.#toRefusal(attempt, error, entry));
    throw error instanceof AppError ? error.withDetails({ receipt: attempt.id, trace: attempt.trace }) : error;
  }

  /** A refusal is `denied`; a defect of ours is `failed`, with nothing of it for the caller to see. */
  #toRefusal(attempt: Attempt, error: unknown, entry = this.#context.catalogue.find(attempt.key)): ReceiptRecord {
    const known = error instanceof AppError;
    if (!known)
      this.#context.log.error({ err: error, trace: attempt.trace, key: entry?.row.key }, 'a call failed by a defect');
    return buildReceipt(
      attempt,
      {
        row: entry === undefined ? null : toAttemptedRow(entry),
        lane: null,
        finishedAt: this.#context.now(),
        outcome: known ? 'denied' : 'failed',
        error: known
          ? { reason: error.reason, message: error.message }
          : { reason: 'internal', message: 'a defect of the server; its log has the trace id' },
      },
      this.#context.redactor.current,
    );
  }

  async #runOnLane(attempt: Attempt, queueing: Queueing): Promise<FinishedCall> {
    await this.#orRefuse(attempt, () => this.#laneCalls.requireLive(queueing.lane));
    return this.#laneCalls.run(attempt, queueing);
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

const toAttemptedRow = ({ row, fingerprint }: Entry) => ({ type: row.type, version: row.version, fingerprint });
