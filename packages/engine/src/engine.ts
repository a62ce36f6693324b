import type { Catalogue, Entry } from '@rowcall/catalogue';
import { AppError } from '@rowcall/errors';
import type { Effect, JsonObject, Log, ReceiptRecord, Row } from '@rowcall/protocol';
import { type Attempt, buildReceipt, type Ending } from '@rowcall/receipts';
import {
  findLastContract,
  findReceipt,
  findReceiptPayload,
  type Gather,
  type Ledger,
  type NewJob,
  type Store,
} from '@rowcall/store';
import type { FinishedCall } from './answer.js';
import { type Caller, type DispatchRequest, type QueuedCall, toQueuedCall } from './call.js';
import type { Completions } from './completions.js';
import { newInvocationId, newTraceId } from './ids.js';
import { buildJobGather } from './job-gather.js';
import type { Lanes } from './lanes.js';
import { LastContracts } from './last-contracts.js';
import type { ReceiptRedactor } from './receipt-redactor.js';
import { toStoredRefusal } from './refusal.js';
import { type PreparedRun, prepareRun, type RunContext, type RunResult, type Shape } from './run.js';

/** How long, in ms, a call waits for a catalogue that may have missed changes. */
const FRESH_WAIT_MS = 2_000;
/** How long, in ms, a synchronous call waits for its lane when its row says nothing. */
const LANE_TIMEOUT_MS = 30_000;
/** Time, in ms, for the way to the runner and back, on top of a row's own timeout: the run's outcome is to be answered. */
const LANE_MARGIN_MS = 1_000;
/** Lane of a call that is queued although its row runs inline. */
const DEFAULT_LANE = 'default';
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
  readonly #jobs: Gather<NewJob>;
  readonly #lastContracts: LastContracts;
  #active = 0;

  constructor(context: EngineContext) {
    this.#context = context;
    this.#lastContracts = new LastContracts((call) => findLastContract(context.store.db, call));
    this.#jobs = buildJobGather(context.store);
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
      const { entry, run } = await this.#orRefuse(attempt, () => this.#prepare(request));
      const lane = laneOf(entry.row, request.mode);
      if (request.shape) return { kind: 'shaped', call: await this.#shape(attempt, { entry, run, lane }) };
      if (request.mode === 'async' && lane !== 'inline') return await this.#enqueue(attempt, { request, entry, lane });
      const previous = this.#lastContracts.find(entry, attempt);
      const call =
        lane === 'inline'
          ? await this.#finish(attempt, entry, run)
          : await this.#runOnLane(attempt, { request, entry, lane });
      return { kind: 'finished', call: this.#noteContract(call, await previous) };
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
      return this.#toReceipt(attempt, entry, { ...(await prepared.run.fire(this.#abort.signal)), lane });
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
      onBehalfOf: request.onBehalfOf ?? null,
      reason: request.reason ?? null,
      traceparent: caller.traceparent,
    };
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
    const ran = await this.#orRefuse(attempt, () => run.fire(this.#abort.signal), entry);
    const record = this.#toReceipt(attempt, entry, { ...ran, lane: 'inline' });
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

  #toReceipt(attempt: Attempt, entry: Entry, ran: RunResult & { lane: string }): ReceiptRecord {
    const ending: Ending = { ...ran, row: toAttemptedRow(entry), finishedAt: this.#context.now() };
    return buildReceipt(attempt, ending, this.#context.redactor.current);
  }

  /** Does a step of a call; when it is refused, the refusal's receipt is committed before it is thrown on. */
  async #orRefuse<T>(attempt: Attempt, step: () => T | Promise<T>, entry?: Entry): Promise<T> {
    try {
      return await step();
    } catch (error) {
      await this.#context.ledger.commit(this.#toRefusal(attempt, error, entry));
      throw error instanceof AppError ? error.withDetails({ receipt: attempt.id, trace: attempt.trace }) : error;
    }
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

  async #enqueue(attempt: Attempt, { request, entry, lane }: Queueing): Promise<Dispatched> {
    const call = JSON.stringify(toQueuedCall(attempt, request, entry.row.version));
    try {
      await this.#jobs.add({ id: attempt.id, lane, effect: entry.effect, call });
    } catch (error) {
      throw new AppError('ledger_unavailable', 'the call may not have been queued', {
        details: { receipt: attempt.id, trace: attempt.trace },
        cause: error,
      });
    }
    return { kind: 'queued', id: attempt.id, trace: attempt.trace, lane };
  }

  async #runOnLane(attempt: Attempt, queueing: Queueing): Promise<FinishedCall> {
    const { lane, entry } = queueing;
    await this.#orRefuse(attempt, () => {
      if (this.#context.lanes.isLive(lane)) return;
      throw new AppError('lane_unavailable', `no runner serves the lane ${lane}`, { param: lane });
    });
    const timeoutMs = (entry.row.limits?.timeout_ms ?? LANE_TIMEOUT_MS) + LANE_MARGIN_MS;
    const ended = this.#context.completions.wait(attempt.id, timeoutMs);
    try {
      await this.#enqueue(attempt, queueing);
    } catch (error) {
      this.#context.completions.abandon(attempt.id);
      throw error;
    }
    if (!(await ended)) {
      throw new AppError('lane_timeout', `the lane ${lane} has not answered yet; the call goes on`, {
        details: { receipt: attempt.id, trace: attempt.trace },
      });
    }
    return this.#readFinished(attempt.id);
  }

  #noteContract(call: FinishedCall, previous: string | undefined): FinishedCall {
    const { key, actor, contract_fingerprint: current } = call.receipt;
    const contractChange = this.#lastContracts.note(key, actor, {
      ...(previous === undefined ? {} : { previous }),
      ...(current === null ? {} : { current }),
    });
    return contractChange === null ? call : { ...call, contractChange };
  }

  async #readFinished(id: string): Promise<FinishedCall> {
    const { db } = this.#context.store;
    const [receipt, payload] = await Promise.all([findReceipt(db, id), findReceiptPayload(db, id)]);
    if (receipt === undefined) throw new Error(`job ${id} ended without a receipt`);
    if (receipt.outcome === 'denied') throw toStoredRefusal(receipt);
    return {
      receipt,
      resultText: payload?.result ?? 'null',
      upstreamText: payload?.upstream ?? null,
      error: receipt.error === null ? null : { reason: receipt.error, message: receipt.error_message ?? '' },
    };
  }
}

interface Queueing {
  readonly request: DispatchRequest;
  readonly entry: Entry;
  readonly lane: string;
}

const toAttemptedRow = ({ row, fingerprint }: Entry) => ({ type: row.type, version: row.version, fingerprint });

/** Where a row runs: its own lane, else inline for fn and http, the default pool for the others and for async calls. */
function laneOf(row: Row, mode: DispatchRequest['mode']): string {
  if (row.runner !== null && row.runner !== 'inline') return row.runner;
  const inline = (row.type === 'fn' || row.type === 'http') && mode === 'sync';
  return inline ? 'inline' : DEFAULT_LANE;
}
