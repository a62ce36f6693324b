import { AppError, type ErrorCode } from '@rowcall/errors';
import type { Log, ReceiptRecord } from '@rowcall/protocol';
import {
  beginCallIn,
  type Decider,
  decideApproval,
  findApproval,
  findReceipt,
  insertApproval,
  insertReceiptsIn,
  isTransient,
  isUnregistered,
  listExpiredApprovals,
  type NewApproval,
  type Store,
  type StoredApproval,
} from '@rowcall/store';
import { type Call, type DispatchRequest, type QueuedCall, toAttempt, toQueuedCall } from './call.js';
import type { CallRecords } from './call-records.js';
import type { Dispatched, Engine, Parking } from './engine.js';
import { isBegun, type Openings } from './openings.js';
import type { PreparedCall } from './prepared-call.js';

/** How long, in ms, a call waits for a person, unless its grant ends before. */
const WAIT_MAX_MS = 24 * 3_600_000;
/** Calls of one grant of the owner's, and of all that derive from it, that may wait at the same time. */
const WAITING_MAX = 100;
/** Calls that are ended in one sweep. */
const EXPIRED_MAX = 100;

/** Why a call cannot run now although it may later: it goes on waiting. */
const PASSING: ReadonlySet<ErrorCode> = new Set([
  'approval_decided',
  'credential_missing',
  'lane_unavailable',
  'ledger_unavailable',
  'rate_limited',
]);

/** What {@link Approvals} work with. */
export interface ApprovalsContext {
  readonly store: Store;
  readonly records: CallRecords;
  readonly openings: Openings;
  readonly log: Log;
  readonly now: () => number;
  /** Registers this process anew after it was declared dead. */
  readonly register: () => Promise<void>;
}

/**
 * Calls that wait for a person. Each is bound to its caller, row, contract, input and time, and fires once at the most.
 *
 *     waiting ──approve──▶ approved, opened ──▶ receipt of the run
 *        ├────── deny ───▶ denied ───────────▶ receipt `approval_denied`
 *        └────── time ───▶ expired ──────────▶ receipt `approval_expired`
 */
export class Approvals implements Parking {
  readonly #context: ApprovalsContext;

  constructor(context: ApprovalsContext) {
    this.#context = context;
  }

  async park({ call, request, entry }: Pick<PreparedCall, 'call' | 'request' | 'entry'>) {
    const { records, now } = this.#context;
    const { receipt, payload } = records.interrupted(call, 'inline', entry);
    const ends = call.caller.chain.map((grant) => grant.expires_at);
    const expiresAt = Math.min(now() + WAIT_MAX_MS, ...ends);
    const approval = {
      id: call.id,
      trace: call.trace,
      key: entry.row.key,
      actor: call.actor,
      origin: call.caller.chain[0]?.fingerprint ?? call.actor,
      effect: entry.effect,
      inputHash: receipt.input_hash,
      contractFingerprint: entry.fingerprint,
      request: payload.request,
      requestRedacted: payload.request_redacted,
      call: JSON.stringify(toQueuedCall(call, request, entry.row.version)),
      reason: call.reason,
      onBehalfOf: call.onBehalfOf,
      expiresAt,
    };
    if (await this.#insert(approval)) return { expiresAt };
    throw new AppError(
      'rate_limited',
      `${WAITING_MAX} calls of this caller, and of grants of the same origin, wait for a person already`,
      {
        fix: 'wait until some of them are decided',
      },
    );
  }

  async #insert(approval: NewApproval): Promise<boolean> {
    try {
      return await insertApproval(this.#context.store.db, approval, WAITING_MAX);
    } catch (cause) {
      if (!isTransient(cause)) throw cause;
      // Should it wait after all: it has a receipt then, and will not fire.
      throw new AppError('ledger_unavailable', 'the call could not be parked; nothing was run', { cause });
    }
  }

  /**
   * Agrees to a call, which fires with exactly what was parked.
   * @returns how the call ended, or that it is queued.
   * @throws AppError unknown_approval, approval_decided; why the call cannot run now: then it still waits; or why it may
   * no longer run: then it ends as denied.
   */
  async approve(id: string, by: Decider, engine: Engine): Promise<Dispatched> {
    const { approval, queued } = await this.#getWaiting(id);
    let prepared: PreparedCall;
    try {
      prepared = await this.#begin(approval, queued, { by, engine });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (PASSING.has(error.code)) throw error.withDetails({ receipt: id });
      await this.#end(id, { state: 'denied', by: { ...by, reason: by.reason ?? error.reason } }, queued, error);
      throw error.withDetails({ receipt: id, trace: queued.trace });
    }
    return engine.goApproved(prepared);
  }

  /** Refuses a call: it never fires. @throws AppError unknown_approval, approval_decided. */
  async deny(id: string, by: Decider): Promise<void> {
    const { queued } = await this.#getWaiting(id);
    const why = by.reason === null ? '' : `: ${by.reason}`;
    const error = new AppError('approval_denied', `${by.actor} did not agree to the call${why}`);
    if (!(await this.#end(id, { state: 'denied', by }, queued, error))) throw toDecided(id);
  }

  /** Ends the calls whose time is over. */
  async expire(): Promise<void> {
    const { store, log } = this.#context;
    for (const approval of await listExpiredApprovals(store.db, EXPIRED_MAX)) {
      const queued = parseCall(approval);
      if (queued === undefined) continue;
      const error = new AppError('approval_expired', 'nobody decided on the call in time');
      const by = { actor: 'engine', reason: null };
      if (await this.#end(approval.id, { state: 'expired', by }, queued, error)) {
        log.info({ receipt: approval.id }, 'a parked call expired');
      }
    }
  }

  async #getWaiting(id: string): Promise<{ approval: StoredApproval; queued: QueuedCall }> {
    const approval = await findApproval(this.#context.store.db, id);
    if (approval === undefined) throw new AppError('unknown_approval', `no call waits by the id ${id.slice(0, 64)}`);
    const queued = parseCall(approval);
    if (queued === undefined) throw toDecided(id);
    if (approval.expires_at.getTime() <= this.#context.now()) throw toDecided(id);
    return { approval, queued };
  }

  /** Checks the call anew, decides it and begins it: the last two in one transaction, so that it begins once. */
  async #begin(
    approval: StoredApproval,
    queued: QueuedCall,
    { by, engine }: { by: Decider; engine: Engine },
  ): Promise<PreparedCall> {
    const caller = await engine.toParkedCaller(queued);
    const call: Call = { ...toAttempt(queued), startedAt: this.#context.now(), caller };
    const prepared = engine.prepareApproved(call, toRequest(approval, queued));
    const decide = () =>
      this.#context.store.db.transaction().execute(async (tx) => {
        if (!(await decideApproval(tx, approval.id, { state: 'approved', by }))) throw toDecided(approval.id);
        if ((await findReceipt(tx, approval.id)) !== undefined) throw toDecided(approval.id);
        isBegun(await beginCallIn(tx, prepared.beginning));
      });
    const { openings } = this.#context;
    openings.hold(approval.id);
    await this.#registered(decide).catch((cause: unknown) => {
      openings.letGo(approval.id);
      if (!isTransient(cause) || cause instanceof AppError) throw cause;
      // Should it have begun after all: it is let go, found open, and interrupted.
      throw new AppError('ledger_unavailable', 'it is not known whether the decision was written; nothing was run', {
        cause,
      });
    });
    return prepared;
  }

  async #registered(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!isUnregistered(error)) throw error;
      await this.#context.register();
      await work();
    }
  }

  /** Decides against a call and writes its receipt. @returns false when it was decided already. */
  async #end(
    id: string,
    decision: { state: 'denied' | 'expired'; by: Decider },
    queued: QueuedCall,
    error: AppError,
  ): Promise<boolean> {
    const record: ReceiptRecord = this.#context.records.refused(toAttempt(queued), error);
    return this.#context.store.db.transaction().execute(async (tx) => {
      if (!(await decideApproval(tx, id, decision))) return false;
      await insertReceiptsIn(tx, [record]);
      return true;
    });
  }
}

const toDecided = (id: string): AppError =>
  new AppError('approval_decided', `the call ${id} no longer waits`, { details: { receipt: id } });

const parseCall = ({ call }: StoredApproval): QueuedCall | undefined =>
  call === null ? undefined : (JSON.parse(call) as QueuedCall);

/** The call as it was asked for, held to the contract that the person saw. */
const toRequest = (approval: StoredApproval, queued: QueuedCall): DispatchRequest => ({
  key: queued.key,
  input: queued.input,
  mode: queued.mode,
  expectContract: approval.contract_fingerprint,
  onBehalfOf: queued.onBehalfOf ?? undefined,
  reason: queued.reason ?? undefined,
  replayOf: queued.replayOf ?? undefined,
  repairs: queued.repairs ?? undefined,
  confirmed: true,
});
