import type { Entry, HeldRow } from '@rowcall/catalogue';
import { AppError } from '@rowcall/errors';
import type { Attempt } from '@rowcall/receipts';
import { findReceipt, findReceiptPayload, type Gather, type NewJob, type Store } from '@rowcall/store';
import type { FinishedCall } from './answer.js';
import { type DispatchRequest, toQueuedCall } from './call.js';
import type { Completions } from './completions.js';
import { buildJobGather } from './job-gather.js';
import type { Lanes } from './lanes.js';
import { toStoredRefusal } from './refusal.js';

/** How long, in ms, a synchronous call waits for its lane when its row says nothing. */
const LANE_TIMEOUT_MS = 30_000;
/** Time, in ms, for the way to the runner and back, on top of a row's own timeout: the run's outcome is to be answered. */
const LANE_MARGIN_MS = 1_000;
/** Lane of a call that is queued although its row runs inline. */
const DEFAULT_LANE = 'default';

/** A call on its way to a lane. */
export interface Queueing {
  readonly request: DispatchRequest;
  readonly entry: Entry;
  readonly lane: string;
}

/** Where a row runs: its own lane, else inline for fn and http, the default pool for the others and for async calls. */
export function laneOf(row: HeldRow, mode: DispatchRequest['mode']): string {
  if (row.runner !== null && row.runner !== 'inline') return row.runner;
  const inline = (row.type === 'fn' || row.type === 'http') && mode === 'sync';
  return inline ? 'inline' : DEFAULT_LANE;
}

/** Sends calls to runners through the queue, and waits for those whose caller waits. */
export class LaneCalls {
  readonly #store: Store;
  readonly #lanes: Lanes;
  readonly #completions: Completions;
  readonly #jobs: Gather<NewJob>;

  constructor({ store, lanes, completions }: { store: Store; lanes: Lanes; completions: Completions }) {
    this.#store = store;
    this.#lanes = lanes;
    this.#completions = completions;
    this.#jobs = buildJobGather(store);
  }

  /** @throws AppError lane_unavailable when no living runner serves the lane. */
  requireLive(lane: string): void {
    if (this.#lanes.isLive(lane)) return;
    throw new AppError('lane_unavailable', `no runner serves the lane ${lane}`, { param: lane });
  }

  /** Queues a call. @throws AppError ledger_unavailable when that is not known to have worked. */
  async enqueue(attempt: Attempt, { request, entry, lane }: Queueing): Promise<void> {
    const call = JSON.stringify(toQueuedCall(attempt, request, entry.row.version));
    try {
      await this.#jobs.add({ id: attempt.id, lane, effect: entry.effect, call });
    } catch (error) {
      throw new AppError('ledger_unavailable', 'the call may not have been queued', {
        details: { receipt: attempt.id, trace: attempt.trace },
        cause: error,
      });
    }
  }

  /**
   * Queues a call and waits for its end.
   * @throws AppError lane_timeout when it takes longer than the row allows: the call goes on; what refused it on the lane.
   */
  async run(attempt: Attempt, queueing: Queueing): Promise<FinishedCall> {
    const { lane, entry } = queueing;
    const timeoutMs = (entry.row.limits?.timeout_ms ?? LANE_TIMEOUT_MS) + LANE_MARGIN_MS;
    const ended = this.#completions.wait(attempt.id, timeoutMs);
    try {
      await this.enqueue(attempt, queueing);
    } catch (error) {
      this.#completions.abandon(attempt.id);
      throw error;
    }
    if (!(await ended)) {
      throw new AppError('lane_timeout', `the lane ${lane} has not answered yet; the call goes on`, {
        details: { receipt: attempt.id, trace: attempt.trace },
      });
    }
    return this.#readFinished(attempt.id);
  }

  async #readFinished(id: string): Promise<FinishedCall> {
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
