import type { HeldRow } from '@rowcall/catalogue';
import { AppError } from '@rowcall/errors';
import { findReceipt, findReceiptPayload, type Gather, type NewJob, type Store } from '@rowcall/store';
import type { FinishedCall } from './answer.js';
import { type DispatchRequest, toQueuedCall } from './call.js';
import type { Completions } from './completions.js';
import { buildJobGather } from './job-gather.js';
import type { Lanes } from './lanes.js';
import type { PreparedCall } from './prepared-call.js';
import { toStoredRefusal } from './refusal.js';

/** How long, in ms, a synchronous call waits for its lane when its row says nothing. */
const LANE_TIMEOUT_MS = 30_000;
/** Time, in ms, for the way to the runner and back, on top of a row's own timeout: the run's outcome is to be answered. */
const LANE_MARGIN_MS = 1_000;
/** Lane of a call that is queued although its row runs inline. */
const DEFAULT_LANE = 'default';

/** Where a row runs: its own lane, else inline for fn and http, the default pool for the others and for async calls. */
export function laneOf(row: HeldRow, mode: DispatchRequest['mode']): string {
  if (row.runner !== null && row.runner !== 'inline') return row.runner;
  const inline = (row.type === 'fn' || row.type === 'http') && mode === 'sync';
  return inline ? 'inline' : DEFAULT_LANE;
}

/** What {@link LaneCalls} work with. */
export interface LaneCallsContext {
  readonly store: Store;
  readonly lanes: Lanes;
  readonly completions: Completions;
  /** Writes the receipt of a call that is still open, and so was not queued. */
  readonly refuseUnqueued: (prepared: PreparedCall, error: AppError) => Promise<unknown>;
}

/** Sends calls to runners through the queue, and waits for those whose caller waits. */
export class LaneCalls {
  readonly #store: Store;
  readonly #lanes: Lanes;
  readonly #completions: Completions;
  readonly #refuseUnqueued: LaneCallsContext['refuseUnqueued'];
  readonly #jobs: Gather<NewJob>;

  constructor({ store, lanes, completions, refuseUnqueued }: LaneCallsContext) {
    this.#store = store;
    this.#lanes = lanes;
    this.#completions = completions;
    this.#refuseUnqueued = refuseUnqueued;
    this.#jobs = buildJobGather(store);
  }

  /** @throws AppError lane_unavailable when no living runner serves the lane. */
  requireLive(lane: string): void {
    if (this.#lanes.isLive(lane)) return;
    throw new AppError('lane_unavailable', `no runner serves the lane ${lane}`, { param: lane });
  }

  /**
   * Queues a call.
   * @param opened whether it was opened: it is then refused, unless it turns out to be queued.
   * @throws AppError ledger_unavailable when that is not known to have worked.
   */
  async enqueue(prepared: PreparedCall, opened: boolean): Promise<void> {
    const { call, request, entry, lane } = prepared;
    const text = JSON.stringify(toQueuedCall(call, request, entry.row.version));
    try {
      await this.#jobs.add({ id: call.id, lane, effect: entry.effect, call: text, opened });
    } catch (cause) {
      const details = { receipt: call.id, trace: call.trace };
      const error = new AppError('ledger_unavailable', 'the call may not have been queued', { details, cause });
      if (opened) await this.#refuseUnqueued(prepared, error);
      throw error;
    }
  }

  /**
   * Queues a call and waits for its end.
   * @throws AppError lane_timeout when it takes longer than the row allows: the call goes on; what refused it on the lane.
   */
  async run(prepared: PreparedCall, opened: boolean): Promise<FinishedCall> {
    const { call, lane, entry } = prepared;
    const timeoutMs = (entry.row.limits?.timeout_ms ?? LANE_TIMEOUT_MS) + LANE_MARGIN_MS;
    const ended = this.#completions.wait(call.id, timeoutMs);
    try {
      await this.enqueue(prepared, opened);
    } catch (error) {
      this.#completions.abandon(call.id);
      throw error;
    }
    if (!(await ended)) {
      throw new AppError('lane_timeout', `the lane ${lane} has not answered yet; the call goes on`, {
        details: { receipt: call.id, trace: call.trace },
      });
    }
    return this.readFinished(call.id);
  }

  /** Reads a finished call from the ledger. @throws AppError what refused it. */
  async readFinished(id: string): Promise<FinishedCall> {
    const { db } = this.#store;
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
