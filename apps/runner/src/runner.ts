import type { Engine, QueuedCall } from '@rowcall/engine';
import type { Log, ReceiptRecord } from '@rowcall/protocol';
import {
  type ClaimedJob,
  COMPLETE_BATCH_MAX,
  claimJobs,
  completeJobs,
  deleteProcess,
  drainProcess,
  HEARTBEAT_EVERY_MS,
  insertProcess,
  JOB_CHANNEL,
  Ledger,
  type NewProcess,
  releaseJobs,
  type Store,
  type Subscription,
  takeOverDeadLeases,
  updateHeartbeat,
} from '@rowcall/store';

/** Jobs that one query takes. */
const CLAIM_MAX = 50;
/** How often, in ms, the queue is looked at although nothing was notified. */
const POLL_EVERY_MS = 2_000;
/** How often, in ms, the leases of dead runners are looked for. */
const TAKE_OVER_EVERY_MS = 5_000;
/** How long, in ms, the end of a job may wait for the database. Its lease is lost before that. */
const COMPLETE_PATIENCE_MS = 60_000;

/** What a {@link Runner} needs. */
export interface RunnerOptions {
  readonly runner: NewProcess;
  readonly store: Store;
  readonly engine: Pick<Engine, 'runQueued' | 'toInterrupted' | 'abort'>;
  /** Ends what processes that died had opened: no other process may be left to do it. */
  readonly sweep: () => Promise<void>;
  readonly log: Log;
}

/**
 * Takes calls from lanes and runs them.
 *
 *     queued ──claim──▶ running ──complete──▶ receipt
 *       ▲                  │
 *       ├──── release ─────┤ graceful stop: a read goes back
 *       └── runner died ───┤ a read goes back, up to three starts
 *                          └─ runner died, write ──▶ receipt `interrupted`
 */
export class Runner {
  readonly #options: RunnerOptions;
  readonly #ledger: Ledger;
  readonly #running = new Map<string, ClaimedJob>();
  readonly #timers: NodeJS.Timeout[] = [];
  #claiming: Promise<void> | undefined;
  #again = false;
  /** False before the registration and from the stop on: nothing is taken from the queue. */
  #taking = false;
  #idle: (() => void) | undefined;
  #starting: Promise<void> | undefined;
  #stopping: Promise<void> | undefined;

  constructor(options: RunnerOptions) {
    this.#options = options;
    const { store, log, runner } = options;
    this.#ledger = new Ledger(store.ledgerPool, {
      log,
      batchMax: COMPLETE_BATCH_MAX,
      patienceMs: COMPLETE_PATIENCE_MS,
      write: (records) => completeJobs(store.ledgerPool, runner.id, records),
    });
  }

  /** What the process's listener has to deliver here. */
  get subscription(): Subscription {
    const { lanes } = this.#options.runner;
    return {
      channel: JOB_CHANNEL,
      onNotification: (payload) => {
        if (payload.split(' ').some((lane) => lanes.includes(lane))) this.#wake();
      },
      onConnected: async () => this.#wake(),
    };
  }

  /** Calls that run now. */
  get running(): number {
    return this.#running.size;
  }

  /** Registers and begins to take calls. May be called twice; after `stop` it does nothing. */
  start(): Promise<void> {
    this.#starting ??= this.#stopping === undefined ? this.#register() : Promise.resolve();
    return this.#starting;
  }

  async #register(): Promise<void> {
    await insertProcess(this.#options.store.db, this.#options.runner);
    if (this.#stopping !== undefined) return;
    this.#taking = true;
    this.#every(HEARTBEAT_EVERY_MS, () => this.#beat());
    this.#every(TAKE_OVER_EVERY_MS, () => this.#takeOver());
    this.#every(POLL_EVERY_MS, async () => this.#wake());
    this.#wake();
  }

  /**
   * Takes nothing new and gives what runs `graceMs`. Then reads go back to the queue, and writes end as cancelled.
   * May be called twice. A database that is away does not hold it up: then other runners take its leases over.
   */
  stop(graceMs: number): Promise<void> {
    this.#stopping ??= this.#drain(graceMs);
    return this.#stopping;
  }

  async #drain(graceMs: number): Promise<void> {
    const { store, runner, engine } = this.#options;
    this.#taking = false;
    await this.#starting?.catch(() => undefined);
    await this.#attempt(() => drainProcess(store.db, runner.id));
    await this.#claiming;
    await this.#untilIdle(graceMs);
    const reads = [...this.#running.values()].filter(({ effect }) => effect === 'read').map(({ id }) => id);
    if (reads.length > 0) await this.#attempt(() => releaseJobs(store.db, runner.id, reads));
    engine.abort();
    await this.#untilIdle(1_000);
    await this.#ledger.stop(5_000);
    for (const timer of this.#timers) clearInterval(timer);
    await this.#attempt(() => deleteProcess(store.db, runner.id));
  }

  async #attempt(work: () => Promise<unknown>): Promise<void> {
    await work().catch((error: unknown) =>
      this.#options.log.warn({ err: error }, 'the runner cannot reach the database'),
    );
  }

  async #untilIdle(timeoutMs: number): Promise<void> {
    if (this.#running.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#idle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #every(periodMs: number, work: () => Promise<void>): void {
    this.#timers.push(setInterval(() => void this.#attempt(work), periodMs));
  }

  /** A runner that was declared dead registers anew: what it held is no longer its own. */
  async #beat(): Promise<void> {
    const { store, runner, log } = this.#options;
    if ((await updateHeartbeat(store.db, runner.id)) || !this.#taking) return;
    log.warn({ runner: runner.id }, 'this runner was declared dead; its calls were given away');
    await insertProcess(store.db, runner);
  }

  async #takeOver(): Promise<void> {
    const { store, runner, engine, log, sweep } = this.#options;
    await sweep();
    for (const job of await takeOverDeadLeases(store.db, runner.id)) {
      log.warn({ job: job.id, lane: job.lane }, 'a call was interrupted: its runner died');
      await this.#complete(engine.toInterrupted(JSON.parse(job.call) as QueuedCall, job.lane));
    }
  }

  #wake(): void {
    this.#again = true;
    this.#claiming ??= this.#claim()
      .catch((error: unknown) => this.#options.log.warn({ err: error }, 'calls cannot be taken from the queue'))
      .finally(() => {
        this.#claiming = undefined;
        // A notification that came during the last look, when no room was short, must not wait for the poll.
        if (this.#again && this.#taking && this.#running.size < this.#options.runner.concurrency) this.#wake();
      });
  }

  /** Takes calls as long as there is room and something waits. */
  async #claim(): Promise<void> {
    const { store, runner } = this.#options;
    while (this.#again && this.#taking) {
      const room = Math.min(CLAIM_MAX, runner.concurrency - this.#running.size);
      if (room <= 0) return; // the end of a call wakes again
      this.#again = false;
      const jobs = await claimJobs(store.pool, { runnerId: runner.id, lanes: runner.lanes, limit: room });
      for (const job of jobs) this.#start(job);
      if (jobs.length === room) this.#again = true;
    }
  }

  #start(job: ClaimedJob): void {
    this.#running.set(job.id, job);
    this.#run(job)
      .catch((error: unknown) =>
        this.#options.log.error({ err: error, job: job.id }, 'the end of a call was not written'),
      )
      .finally(() => {
        this.#running.delete(job.id);
        if (this.#running.size === 0) this.#idle?.();
        this.#wake();
      });
  }

  async #run(job: ClaimedJob): Promise<void> {
    await this.#complete(await this.#options.engine.runQueued(JSON.parse(job.call) as QueuedCall, job.lane));
  }

  #complete(record: ReceiptRecord): Promise<void> {
    return this.#ledger.commit(record);
  }
}
