import { DONE_CHANNEL, listEndedCalls, type Store, type Subscription } from '@rowcall/store';

/** Tells callers that wait for a queued call when it has ended. Notifications are batched by the runners. */
export class Completions {
  readonly #store: Store;
  readonly #waiters = new Map<string, Set<(ended: boolean) => void>>();
  #stopped = false;

  constructor(store: Store) {
    this.#store = store;
  }

  /** What the process's listener has to deliver here. */
  get subscription(): Subscription {
    return {
      channel: DONE_CHANNEL,
      onNotification: (payload) => {
        for (const id of payload.split(' ')) this.#settle(id, true);
      },
      onConnected: () => this.#catchUp(),
    };
  }

  /**
   * Waits for the end of a call. Register before the job is queued: it may end before its insert is answered.
   * @returns true when it ended, false when that took longer than `timeoutMs`, was abandoned, or everything is stopped.
   */
  wait(id: string, timeoutMs: number): Promise<boolean> {
    if (this.#stopped) return Promise.resolve(false);
    return new Promise((resolve) => {
      const waiters = this.#waiters.get(id) ?? new Set();
      const settle = (ended: boolean) => {
        clearTimeout(timer);
        waiters.delete(settle);
        if (waiters.size === 0) this.#waiters.delete(id);
        resolve(ended);
      };
      const timer = setTimeout(() => settle(false), timeoutMs);
      this.#waiters.set(id, waiters.add(settle));
    });
  }

  /** Ends every wait for one call. */
  abandon(id: string): void {
    this.#settle(id, false);
  }

  /** True when nothing is waited for any more. */
  get stopped(): boolean {
    return this.#stopped;
  }

  #settle(id: string, ended: boolean): void {
    for (const settle of [...(this.#waiters.get(id) ?? [])]) settle(ended);
  }

  /** Ends every wait, now and from now on: the calls go on without this process. */
  stop(): void {
    this.#stopped = true;
    for (const id of [...this.#waiters.keys()]) this.#settle(id, false);
  }

  /** What ended while nobody listened. */
  async #catchUp(): Promise<void> {
    const ids = [...this.#waiters.keys()];
    if (ids.length === 0) return;
    const ended = await listEndedCalls(this.#store.db, ids);
    for (const id of ended) this.#settle(id, true);
  }
}
