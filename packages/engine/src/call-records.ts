import type { Catalogue, Entry } from '@rowcall/catalogue';
import { AppError } from '@rowcall/errors';
import type { Log, ReceiptRecord } from '@rowcall/protocol';
import { type Attempt, buildReceipt, type Ending } from '@rowcall/receipts';
import type { ReceiptRedactor } from './receipt-redactor.js';
import type { RunResult } from './run.js';

/** What {@link CallRecords} work with. */
export interface CallRecordsContext {
  readonly catalogue: Catalogue;
  readonly redactor: ReceiptRedactor;
  readonly log: Log;
  readonly now: () => number;
}

/** Makes the receipts of calls, whatever became of them. */
export class CallRecords {
  readonly #context: CallRecordsContext;

  constructor(context: CallRecordsContext) {
    this.#context = context;
  }

  // Member by member: copying objects of many shapes costs more than the rest of a receipt.
  /** The receipt of a call that ran. */
  ran(attempt: Attempt, entry: Entry, { ran, lane }: { ran: RunResult; lane: string }): ReceiptRecord {
    return this.#build(attempt, {
      row: toAttemptedRow(entry),
      lane,
      finishedAt: this.#context.now(),
      outcome: ran.outcome,
      result: ran.result,
      upstream: ran.upstream ?? null,
      error: ran.error ?? null,
      costUsd: entry.price,
    });
  }

  /** A refusal is `denied`; a defect of ours is `failed`, with nothing of it for the caller to see. */
  refused(attempt: Attempt, error: unknown, entry = this.#context.catalogue.find(attempt.key)): ReceiptRecord {
    const known = error instanceof AppError;
    // Its maker reads it, and anyone confirms it: neither may learn of a row that the grant does not cover.
    const row = entry === undefined || (known && error.code === 'scope_mismatch') ? null : toAttemptedRow(entry);
    if (!known)
      this.#context.log.error({ err: error, trace: attempt.trace, key: entry?.row.key }, 'a call failed by a defect');
    return this.#build(attempt, {
      row,
      lane: null,
      finishedAt: this.#context.now(),
      outcome: known ? 'denied' : 'failed',
      error: known
        ? { reason: error.reason, message: error.message }
        : { reason: 'internal', message: 'a defect of the server; its log has the trace id' },
    });
  }

  /** The receipt of a call whose process died while it ran: whether it fired is not known, and it is not fired again. */
  interrupted(attempt: Attempt, lane: string, entry = this.#context.catalogue.find(attempt.key)): ReceiptRecord {
    return this.#build(attempt, {
      row: entry === undefined ? null : toAttemptedRow(entry),
      lane,
      finishedAt: this.#context.now(),
      outcome: 'interrupted',
      error: { reason: 'interrupted', message: 'the process died while the call ran; it may have taken effect' },
      costUsd: entry?.price ?? 0,
    });
  }

  #build(attempt: Attempt, ending: Ending): ReceiptRecord {
    return buildReceipt(attempt, ending, this.#context.redactor.current);
  }
}

const toAttemptedRow = ({ row, fingerprint }: Entry) => ({ type: row.type, version: row.version, fingerprint });
