import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '@rowcall/errors';
import type { Log, ReceiptRecord } from '@rowcall/protocol';
import type pg from 'pg';
import { type Failures, Gather, NO_FAILURES } from './gather.js';
import { isTransient } from './pool.js';
import { insertReceipts } from './receipt.js';

/** Commits in flight at the same time. */
const IN_FLIGHT_MAX = 2;
/** Receipts that are worth a commit of their own although more may come in the same turn. */
const EARLY_AT = 16;
/** Receipts in one commit. */
const BATCH_MAX = 500;
/** Characters of payload in one commit: more would be slow, and a statement's text cannot have any length. */
const BATCH_CHARACTERS_MAX = 8 * 1024 * 1024;
/** Receipts that may wait; more calls are refused before they run. */
const WAITING_MAX = 5_000;
/** How long, in ms, a caller waits for its receipt while the database is away. */
const PATIENCE_MS = 10_000;
/** How often, in ms, it is looked whose patience is at its end. */
const WATCH_EVERY_MS = 250;
const RETRY_FIRST_MS = 20;
const RETRY_MAX_MS = 500;

/** A receipt that is not committed yet, and until when (`performance.now`) its caller waits. */
interface Waiting {
  readonly record: ReceiptRecord;
  readonly reject: (error: AppError) => void;
  readonly until: number;
}

/** How a {@link Ledger} writes. */
export interface LedgerOptions {
  readonly log: Log;
  /**
   * How a batch is written; {@link insertReceipts} when not given. Resolves to the ids of the calls that were taken for
   * interrupted meanwhile, and whose receipts were therefore not written.
   */
  readonly write?: (records: readonly ReceiptRecord[]) => Promise<readonly string[]>;
  /** How long, in ms, a caller waits for its receipt; 10,000 when not given. */
  readonly patienceMs?: number;
  /** Receipts in one commit, at the most; 500 when not given. */
  readonly batchMax?: number;
}

/**
 * Writes receipts. Those of concurrent calls are committed together, durable, and no call's promise resolves before
 * its receipt is committed. While the database is away, receipts stay in memory and are tried again.
 */
export class Ledger {
  readonly #gather: Gather<ReceiptRecord>;
  readonly #log: Log;
  readonly #write: (records: readonly ReceiptRecord[]) => Promise<readonly string[]>;
  readonly #patienceMs: number;
  readonly #open = new Set<Waiting>();
  #watching: NodeJS.Timeout | undefined;
  #stopping = false;

  constructor(pool: pg.Pool, options: LedgerOptions) {
    this.#log = options.log;
    this.#write = options.write ?? ((records) => insertReceipts(pool, records));
    this.#patienceMs = options.patienceMs ?? PATIENCE_MS;
    this.#gather = new Gather({
      flush: (records) => this.#flush(records),
      inFlightMax: IN_FLIGHT_MAX,
      earlyAt: EARLY_AT,
      batchMax: options.batchMax ?? BATCH_MAX,
      weight: { of: toPayloadLength, max: BATCH_CHARACTERS_MAX },
    });
  }

  /** To be asked before a row runs. @throws AppError ledger_unavailable when receipts pile up. */
  admit(): void {
    if (this.#gather.waiting < WAITING_MAX) return;
    throw new AppError('ledger_unavailable', `${WAITING_MAX} receipts wait to be written; nothing was run`);
  }

  /**
   * Commits one receipt.
   * @throws AppError ledger_unavailable when it is not committed in time; it stays in line and is still tried.
   */
  commit(record: ReceiptRecord): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { record, reject, until: performance.now() + this.#patienceMs };
      this.#open.add(waiting);
      this.#watch();
      this.#gather.push(record, (error) => {
        this.#open.delete(waiting);
        if (error === undefined) resolve();
        else reject(error instanceof AppError ? error : refusedError(record, error));
      });
    });
  }

  /** Tells whether the receipt of a call is not written yet, whether or not its caller still waits. */
  isWaiting(id: string): boolean {
    for (const { record } of this.#open) if (record.receipt.id === id) return true;
    return false;
  }

  /** Waits until every receipt is written, at most `graceMs`. @returns how many are lost. */
  async stop(graceMs: number): Promise<number> {
    const until = performance.now() + graceMs;
    while (this.#open.size > 0 && performance.now() < until) await sleep(10);
    this.#stopping = true;
    if (this.#open.size > 0)
      this.#log.error({ lost: this.#open.size }, 'receipts could not be written before the stop');
    return this.#open.size;
  }

  /** One timer for all that wait: a timer for each would cost every call what only an outage needs. */
  #watch(): void {
    this.#watching ??= setTimeout(
      () => {
        this.#watching = undefined;
        const now = performance.now();
        for (const waiting of this.#open) if (waiting.until <= now) waiting.reject(lateError(waiting.record));
        if (this.#open.size > 0) this.#watch();
      },
      Math.min(WATCH_EVERY_MS, this.#patienceMs),
    ).unref();
  }

  async #flush(records: readonly ReceiptRecord[]): Promise<Failures<ReceiptRecord>> {
    for (let waitMs = RETRY_FIRST_MS; ; waitMs = Math.min(waitMs * 2, RETRY_MAX_MS)) {
      try {
        const interrupted = await this.#write(records);
        return interrupted.length === 0 ? NO_FAILURES : toInterrupted(records, interrupted);
      } catch (error) {
        if (!isTransient(error)) return this.#halve(records, error);
        if (this.#stopping) throw error;
        this.#log.warn({ err: error, receipts: records.length }, 'receipts cannot be written yet');
        await sleep(waitMs);
      }
    }
  }

  /** A receipt that Postgres refuses must not take the others of its batch along: halve until it stands alone. */
  async #halve(records: readonly ReceiptRecord[], cause: unknown): Promise<Failures<ReceiptRecord>> {
    const [first] = records;
    if (first !== undefined && records.length === 1) {
      this.#log.error({ err: cause, receipt: first.receipt.id }, 'the database refused a receipt');
      return new Map([[first, cause]]);
    }
    const half = records.length >> 1;
    const lower = await this.#flush(records.slice(0, half));
    const upper = await this.#flush(records.slice(half));
    return new Map([...lower, ...upper]);
  }
}

const toPayloadLength = ({ payload }: ReceiptRecord): number => payload.request.length + (payload.result?.length ?? 0);

const toInterrupted = (records: readonly ReceiptRecord[], ids: readonly string[]): Failures<ReceiptRecord> =>
  new Map(
    records.filter(({ receipt }) => ids.includes(receipt.id)).map((record) => [record, interruptedError(record)]),
  );

function interruptedError({ receipt }: ReceiptRecord): AppError {
  return new AppError(
    'ledger_unavailable',
    'the row ran, but this process was taken for dead meanwhile: the receipt says interrupted',
    { details: { ran: receipt.output_hash !== null, receipt: receipt.id } },
  );
}

function lateError({ receipt }: ReceiptRecord): AppError {
  const ran = receipt.output_hash !== null;
  const what = ran ? 'the row ran, but its receipt' : 'the receipt of the call';
  return new AppError('ledger_unavailable', `${what} is not written yet; it is still being tried`, {
    details: { ran, receipt: receipt.id },
  });
}

function refusedError({ receipt }: ReceiptRecord, cause: unknown): AppError {
  return new AppError('ledger_unavailable', 'the receipt of the call could not be written', {
    details: { ran: receipt.output_hash !== null, receipt: receipt.id },
    cause,
  });
}
