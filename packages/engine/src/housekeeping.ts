import type { Log } from '@rowcall/protocol';
import {
  abandonCalls,
  deleteOldKeys,
  deleteProcess,
  HEARTBEAT_EVERY_MS,
  insertProcess,
  interruptDeadCalls,
  listOpenCalls,
  type NewProcess,
  type Store,
  updateHeartbeat,
} from '@rowcall/store';

/** How often, in ms, what dead processes had opened and what expired is looked for. */
const SWEEP_EVERY_MS = 5_000;
/** How often, in ms, old Idempotency-Keys are forgotten. */
const FORGET_EVERY_MS = 3_600_000;

/** What {@link Housekeeping} works with. */
export interface HousekeepingOptions {
  readonly store: Store;
  readonly log: Log;
  readonly process: NewProcess;
  /** Ends the parked calls whose time is over. */
  readonly expireApprovals: () => Promise<void>;
  /** Whether the process will yet end a call that it has open. */
  readonly isHeld: (id: string) => boolean;
}

/** Keeps a process registered and its heart beating, and ends what was left undone by others. */
export class Housekeeping {
  readonly #options: HousekeepingOptions;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #working = new Set<Promise<void>>();

  constructor(options: HousekeepingOptions) {
    this.#options = options;
  }

  /** Registers the process. Nothing can be opened before. */
  async start(): Promise<void> {
    await this.register();
    this.#every(HEARTBEAT_EVERY_MS, () => this.#beat());
    this.#every(SWEEP_EVERY_MS, () => this.sweep());
    this.#every(FORGET_EVERY_MS, () => deleteOldKeys(this.#options.store.db));
  }

  /** Registers the process, where it is not. */
  async register(): Promise<void> {
    const { store, process } = this.#options;
    await insertProcess(store.db, process);
  }

  /** Stops the timers and takes the process out. What it still holds is declared interrupted by others. */
  async stop(): Promise<void> {
    const { store, process, log } = this.#options;
    for (const timer of this.#timers.splice(0)) clearInterval(timer);
    await Promise.all(this.#working);
    await deleteProcess(store.db, process.id).catch((error: unknown) =>
      log.warn({ err: error }, 'the process cannot be taken out'),
    );
  }

  /** Looks once for what dead processes had opened, what this one has lost, and parked calls whose time is over. */
  async sweep(): Promise<void> {
    const { store, log, process, expireApprovals } = this.#options;
    try {
      await this.#abandonLost();
      for (const id of await interruptDeadCalls(store.db, process.id)) {
        log.warn({ receipt: id }, 'a call was interrupted: its process died, or lost it to a failure of the database');
      }
    } finally {
      await expireApprovals();
    }
  }

  /**
   * Gives up what is open in this process's name although nobody here knows of it: the answer to the statement that
   * opened it was lost. What is held is looked at after what is open: a call is held before it is opened.
   */
  async #abandonLost(): Promise<void> {
    const { store, process, isHeld } = this.#options;
    const open = await listOpenCalls(store.db, process.id);
    await abandonCalls(
      store.db,
      open.filter((id) => !isHeld(id)),
    );
  }

  async #beat(): Promise<void> {
    const { store, process, log } = this.#options;
    if (await updateHeartbeat(store.db, process.id)) return;
    log.warn({ process: process.id }, 'this process was declared dead; the calls that it had opened were interrupted');
    await this.register();
  }

  #every(periodMs: number, work: () => Promise<void>): void {
    const { log } = this.#options;
    const once = () => {
      const done = work()
        .catch((error: unknown) => log.warn({ err: error }, 'housekeeping cannot reach the database'))
        .finally(() => this.#working.delete(done));
      this.#working.add(done);
    };
    this.#timers.push(setInterval(once, periodMs).unref());
  }
}
